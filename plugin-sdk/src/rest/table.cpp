// Cells of tables, ages, and the default table for kinds without columns.
#include "backplane/rest/table.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include "backplane/core/meta.hpp"

namespace backplane BACKPLANE_API {
namespace {

// Returns a cell of the type string, which accepts any value: lists and objects are printed as JSON.
Value text_cell(const Value& value, const json::storage_ptr& storage) {
  if (value.is_string()) return Value(value, storage);
  if (value.is_null()) return Value("<nil>", storage);
  return Value(to_json(value), storage);
}

Value date_cell(const Value& value, std::int64_t now_unix, const json::storage_ptr& storage) {
  if (!value.is_string()) return Value(nullptr, storage);
  const std::string_view text = value.get_string();
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

void print_created(const Object& object, std::int64_t, Array& cells) {
  const std::string_view created = meta_text(object, "creationTimestamp");
  cells.emplace_back(created.empty() ? std::string_view("0001-01-01T00:00:00Z") : created);
}

void print_name(const Object& object, std::int64_t, Array& cells) { cells.emplace_back(meta_name(object)); }

std::string two_units(std::int64_t large, const char* large_unit, std::int64_t small, const char* small_unit) {
  std::string out = std::to_string(large) + large_unit;
  if (small != 0) out += std::to_string(small) + small_unit;
  return out;
}

}  // namespace

TableConvertor::~TableConvertor() = default;
Array TableConvertor::conditions(const Object&, json::storage_ptr storage) const { return Array(std::move(storage)); }

ColumnTable::ColumnTable(std::vector<TableColumn> columns, PrintConditions conditions)
    : columns_(std::move(columns)), print_conditions_(conditions) {
  paths_.reserve(columns_.size());
  for (const TableColumn& column : columns_) {
    std::vector<JsonPath>& paths = paths_.emplace_back();
    if (auto path = JsonPath::parse(column.path); path && !column.path.empty()) paths.push_back(std::move(*path));
    for (const std::string& text : column.fallbacks) {
      if (auto path = JsonPath::parse(text)) paths.push_back(std::move(*path));
    }
  }
}

const Value* ColumnTable::found_at(std::size_t column, const Object& object) const {
  const Value* found = nullptr;
  for (const JsonPath& path : paths_[column]) {
    found = path.first(object);
    if (found != nullptr && !found->is_null()) break;
  }
  const bool empty = found != nullptr && found->is_string() && found->get_string().empty();
  return empty && columns_[column].absent_if_empty ? nullptr : found;
}

std::string ColumnTable::joined_at(std::size_t column, const Object& object) const {
  std::string out;
  bool any = false;
  const auto add = [&](const Value& value) {
    if (value.is_null()) return;
    if (std::exchange(any, true)) out += *columns_[column].join;
    out += value.is_string() ? std::string(value.get_string()) : to_json(value);
  };
  for (const JsonPath& path : paths_[column]) {
    path.each(object, [&](const Value& found) {
      if (!found.is_array()) add(found);
      if (found.is_array()) std::for_each(found.get_array().begin(), found.get_array().end(), add);
      return false;
    });
  }
  return out;
}

Value ColumnTable::cell_at(std::size_t i, const Object& object, std::int64_t now_unix, const json::storage_ptr& storage) const {
  const TableColumn& column = columns_[i];
  if (column.join) {
    const std::string text = joined_at(i, object);
    return text.empty() ? Value(column.absent, storage) : Value(text, storage);
  }
  const Value* found = found_at(i, object);
  if (column.print != nullptr) return column.print(found, now_unix);
  if (found != nullptr) return cell(column.type, *found, now_unix, storage);
  if (column.format == "name" && column.absent.is_null()) return Value("", storage);  // the object of a bookmark has no name
  return Value(column.absent, storage);
}

Array ColumnTable::cells(const Object& object, std::int64_t now_unix, json::storage_ptr storage) const {
  Array out(storage);
  out.reserve(columns_.size());
  // A function TableColumn::cells may have filled the cells of the following columns too.
  while (out.size() < columns_.size()) {
    const std::size_t i = out.size();
    const TableColumn& column = columns_[i];
    if (column.cells != nullptr) {
      column.cells(object, now_unix, out);
      assert(out.size() > i);  // the function of the last column may add a value that has no column
      if (out.size() == i) out.emplace_back(nullptr);
      continue;
    }
    out.push_back(cell_at(i, object, now_unix, storage));
  }
  return out;
}

Array ColumnTable::conditions(const Object& object, json::storage_ptr storage) const {
  Array out(std::move(storage));
  if (print_conditions_ != nullptr) print_conditions_(object, out);
  return out;
}

const TableConvertor& default_table_convertor() {
  static const ColumnTable table({
      {.name = "Name",
       .format = "name",
       .description = "Name of the object, unique among the objects of its kind in its namespace.",
       .cells = print_name},
      {.name = "Created At",
       .type = "date",
       .description = "When the server stored the object for the first time, in UTC.",
       .cells = print_created},
  });
  return table;
}

std::string human_duration(std::int64_t seconds) {
  // A negative second is not an error, because the clocks of two machines may differ by a second.
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 120) return std::to_string(seconds) + "s";
  const std::int64_t minutes = seconds / 60;
  if (minutes < 10) return two_units(minutes, "m", seconds % 60, "s");
  if (minutes < 180) return std::to_string(minutes) + "m";
  const std::int64_t hours = minutes / 60;
  if (hours < 8) return two_units(hours, "h", minutes % 60, "m");
  if (hours < 48) return std::to_string(hours) + "h";
  const std::int64_t days = hours / 24;
  if (hours < 192) return two_units(days, "d", hours % 24, "h");
  if (days < 365 * 2) return std::to_string(days) + "d";
  if (days < 365 * 8) return two_units(days / 365, "y", days % 365, "d");
  return std::to_string(days / 365) + "y";
}

std::string human_age(std::string_view rfc3339, std::int64_t now_unix) {
  const auto then = parse_rfc3339(rfc3339);
  return then ? human_duration(now_unix - *then) : "<unknown>";
}

}  // namespace BACKPLANE_API
