#include "table.hpp"

#include <backplane/core/meta.hpp>
#include <backplane/kit/table.hpp>

namespace backplane {
namespace {

// "ns/name", or Local for a group version that this server serves itself.
std::string service_text(const Object& object) {
  const Value* service = find_path(object, "spec.service");
  if (!service || !service->is_object()) return "Local";
  return std::string(get_string(service->get_object(), "namespace")) + "/" + std::string(get_string(service->get_object(), "name"));
}

// "True", or "False (ServiceNotFound)".
std::string availability_text(const Object& object) {
  const Value* conditions = find_path(object, "status.conditions");
  if (!conditions || !conditions->is_array()) return "Unknown";
  for (const auto& item : conditions->get_array()) {
    if (!item.is_object() || get_string(item.get_object(), "type") != "Available") continue;
    const std::string status(get_string(item.get_object(), "status"));
    return status == "True" ? status : status + " (" + std::string(get_string(item.get_object(), "reason")) + ")";
  }
  return "Unknown";
}

void print_apiservice(const Object& object, std::int64_t, Array& cells) {
  cells.emplace_back(service_text(object));
  cells.emplace_back(availability_text(object));
}

}  // namespace

std::vector<TableColumn> apiservice_columns() {
  return {
      {.name = "Name", .format = "name", .description = "Name of the APIService: its version, a dot, its group.", .path = ".metadata.name"},
      {.name = "Service",
       .description = "The service that answers for the group version; Local when this server does.",
       .cells = print_apiservice},
      {.name = "Available", .description = "Whether the group version can be reached."},
      kit::age_column()};
}

}  // namespace backplane
