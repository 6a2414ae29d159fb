#include "custom_table.hpp"

#include "definition.hpp"

namespace backplane::apiextensions {

std::vector<TableColumn> custom_columns(const Object& version) {
  std::vector<TableColumn> out;
  out.push_back({.name = "Name",
                 .format = "name",
                 .description = "The name of the object, unique among those of its kind in a namespace.",
                 .path = ".metadata.name"});
  for (const Object* asked : objects(version, "additionalPrinterColumns")) {
    TableColumn& column = out.emplace_back();
    column.path = get_string(*asked, "jsonPath");
    column.name = get_string(*asked, "name");
    column.type = get_string(*asked, "type");
    column.format = get_string(*asked, "format");
    column.description = get_string(*asked, "description");
    if (column.description.empty()) column.description = "Custom resource definition column (in JSONPath format): " + column.path;
    column.priority = static_cast<int>(get_int(*asked, "priority").value_or(0));
  }
  if (out.size() == 1) {
    out.push_back({.name = "Age", .type = "date", .description = "When the object was created.", .path = ".metadata.creationTimestamp"});
  }
  return out;
}

}  // namespace backplane::apiextensions
