#include "custom_table.hpp"

#include <algorithm>
#include <limits>

#include "backplane/core/meta.hpp"
#include "backplane/types/schema.hpp"
#include "definition.hpp"

namespace backplane::apiextensions {
namespace {

constexpr std::int64_t kZeroTime = -62135596800;  // the first second of year 1
constexpr std::int64_t kLongestAge = 9223372036;  // 292 years, the maximum of upstream's 64-bit nanoseconds

std::string text_of_cell(const Value& value) {
  if (value.is_null()) return "<no value>";
  return value.is_object() || value.is_array() ? to_json(value) : go_print(value);
}

Value date_cell(std::string_view text, std::int64_t now_unix, const json::storage_ptr& storage) {
  if (text.empty() || text == "null") return Value("<unknown>", storage);
  const auto time = parse_rfc3339(text);
  if (!time) return Value("<invalid>", storage);
  if (*time == kZeroTime) return Value("<unknown>", storage);
  return Value(human_duration(std::min(now_unix - *time, kLongestAge)), storage);
}

// Values out of range become the same value as in Go on amd64.
std::int64_t whole(double number) {
  constexpr double kLimit = 9223372036854775808.0;
  return number >= -kLimit && number < kLimit ? static_cast<std::int64_t>(number) : std::numeric_limits<std::int64_t>::min();
}

Value cell(std::string_view type, const Value& value, std::int64_t now_unix, const json::storage_ptr& storage) {
  if (type == "string") return Value(text_of_cell(value), storage);
  if (type == "date" && value.is_string()) return date_cell(value.get_string(), now_unix, storage);
  if (type == "boolean" && value.is_bool()) return Value(value, storage);
  if (type == "integer" && value.is_int64()) return Value(value, storage);
  if (type == "integer" && value.is_number()) return Value(whole(value.to_number<double>()), storage);
  if (type == "number" && value.is_number()) return Value(value.to_number<double>(), storage);
  return Value(nullptr, storage);
}

}  // namespace

CustomTable::CustomTable(const Object& version) {
  columns_.push_back(
      {.name = "Name", .format = "name", .description = "The name of the object, unique among those of its kind in a namespace."});
  const auto asked = objects(version, "additionalPrinterColumns");
  for (const Object* each : asked) {
    TableColumn column;
    column.path = get_string(*each, "jsonPath");
    auto path = ColumnPath::parse(column.path);
    if (!path) return;
    column.name = get_string(*each, "name");
    column.type = get_string(*each, "type");
    column.format = get_string(*each, "format");
    column.description = get_string(*each, "description");
    if (column.description.empty()) column.description = "Custom resource definition column (in JSONPath format): " + column.path;
    column.priority = static_cast<int>(get_int(*each, "priority").value_or(0));
    add(std::move(column), std::move(*path));
  }
  if (!asked.empty()) return;
  TableColumn age{.name = "Age", .type = "date", .description = "When the object was created.", .path = ".metadata.creationTimestamp"};
  auto path = ColumnPath::parse(age.path);
  add(std::move(age), std::move(*path));
}

void CustomTable::add(TableColumn column, ColumnPath path) {
  columns_.push_back(std::move(column));
  paths_.push_back(std::move(path));
}

Array CustomTable::cells(const Object& object, std::int64_t now_unix, json::storage_ptr storage) const {
  Array out(storage);
  out.reserve(columns_.size());
  out.emplace_back(meta_name(object));
  for (std::size_t i = 0; i < paths_.size(); ++i) {
    const Value* found = paths_[i].first(object);
    out.push_back(found != nullptr ? cell(columns_[i + 1].type, *found, now_unix, storage) : Value(nullptr, storage));
  }
  return out;
}

std::shared_ptr<const CustomTable> custom_table(const Object& version) {
  // Most small definitions have no columns, and a separate table takes more than a kilobyte.
  static const auto plain = std::make_shared<const CustomTable>(Object());
  if (objects(version, "additionalPrinterColumns").empty()) return plain;
  return std::make_shared<const CustomTable>(version);
}

}  // namespace backplane::apiextensions
