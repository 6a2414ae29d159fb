#include "custom_table.hpp"

#include <cmath>

#include "backplane/meta.hpp"
#include "definition.hpp"

namespace backplane::apiextensions {
namespace {

// A cell of type string shows anything; lists and objects as JSON.
Value text_cell(const Value& value, const json::storage_ptr& storage) {
  if (value.is_string()) return Value(value, storage);
  if (value.is_null()) return Value("<nil>", storage);
  return Value(to_json(value), storage);
}

Value date_cell(const Value& value, std::int64_t now_unix, const json::storage_ptr& storage) {
  if (!value.is_string()) return Value(nullptr, storage);
  const std::string_view text = text_of(value);
  if (text.empty()) return Value("<unknown>", storage);
  if (!parse_rfc3339(text)) return Value("<invalid>", storage);
  return Value(human_age(text, now_unix), storage);
}

Value cell(std::string_view type, const Value& value, std::int64_t now_unix, const json::storage_ptr& storage) {
  if (type == "string") return text_cell(value, storage);
  if (type == "date") return date_cell(value, now_unix, storage);
  if (type == "boolean" && value.is_bool()) return Value(value, storage);
  const bool whole = value.is_int64() || value.is_uint64();
  if (type == "integer" && whole) return Value(value, storage);
  if (type == "integer" && value.is_double()) return Value(static_cast<std::int64_t>(std::trunc(value.get_double())), storage);
  if (type == "number" && (whole || value.is_double())) return Value(value, storage);
  return Value(nullptr, storage);
}

}  // namespace

CustomTable::CustomTable(const Object& version) {
  columns_.push_back({"Name", "string", "name", "The name of the object, unique among those of its kind in a namespace.", 0});
  for (const Object* asked : objects(version, "additionalPrinterColumns")) {
    TableColumn column;
    const std::string_view path = get_string(*asked, "jsonPath");
    column.name = get_string(*asked, "name");
    column.type = get_string(*asked, "type");
    column.format = get_string(*asked, "format");
    column.description = get_string(*asked, "description");
    if (column.description.empty()) column.description = "Custom resource definition column (in JSONPath format): " + std::string(path);
    column.priority = static_cast<int>(get_int(*asked, "priority").value_or(0));
    add(std::move(column), path);
  }
  if (columns_.size() == 1) add({"Age", "date", "", "When the object was created.", 0}, ".metadata.creationTimestamp");
}

void CustomTable::add(TableColumn column, std::string_view json_path) {
  columns_.push_back(std::move(column));
  paths_.push_back(JsonPath::parse(json_path));
}

Array CustomTable::cells(const Object& object, std::int64_t now_unix, json::storage_ptr storage) const {
  Array out(storage);
  out.reserve(columns_.size());
  out.emplace_back(meta_name(object));
  for (std::size_t i = 0; i < paths_.size(); ++i) {
    const Value* found = paths_[i] ? paths_[i]->first(object) : nullptr;
    if (found == nullptr)
      out.emplace_back(nullptr);
    else
      out.push_back(cell(columns_[i + 1].type, *found, now_unix, storage));
  }
  return out;
}

}  // namespace backplane::apiextensions
