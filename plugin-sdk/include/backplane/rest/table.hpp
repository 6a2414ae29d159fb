// Server-side printing: metav1.Table, the response to `kubectl get`.
//
// Thread-safety: convertors are const and called from any thread.
// Errors:        none; a value that cannot be printed gives an empty cell.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"
#include "backplane/core/visibility.hpp"
#include "backplane/types/json_path.hpp"

namespace backplane BACKPLANE_API {

// Formats the value at a column's path; `found` is null if there is none.
using PrintFound = Value (*)(const Value* found, std::int64_t now_unix);
// Appends cells computed from the whole object: that of its column, and those of the following columns without a path or a function.
using PrintCells = void (*)(const Object& object, std::int64_t now_unix, Array& cells);
// Appends the row's TableRowConditions.
using PrintConditions = void (*)(const Object& object, Array& conditions);

// A column and the source of its cells: a path or a function.
//
//   {.name = "Replicas", .type = "integer", .description = "Desired replicas.", .path = ".spec.replicas"}
//   {.name = "Age", .type = "date", .description = "Time since creation.", .path = ".metadata.creationTimestamp"}
struct TableColumn {
  std::string name = {};
  std::string type = "string";  // string integer number boolean date
  std::string format = {};      // "name" on the first column
  std::string description = {};
  int priority = 0;       // greater than 0: only with -o wide
  std::string path = {};  // kubectl's JSONPath (".spec.replicas"); the value is printed by `type`
  // Paths to try, in order, if there is no value at `path`; null counts as no value.
  std::vector<std::string> fallbacks = {};
  // Set: print all values at `path` and `fallbacks`, list items included, separated by this text.
  std::optional<std::string> join = {};
  Value absent = {};             // the cell if there is no value
  bool absent_if_empty = false;  // … or only an empty string
  PrintFound print = nullptr;
  PrintCells cells = nullptr;
};

// Columns of a kind, and the cells of one object.
class TableConvertor {
 public:
  virtual ~TableConvertor();
  virtual const std::vector<TableColumn>& columns() const = 0;
  // One cell per column, in order. `now_unix`: the current time, for ages, in seconds since 1970.
  virtual Array cells(const Object& object, std::int64_t now_unix, json::storage_ptr storage) const = 0;
  // The row's TableRowConditions ("Completed" for finished objects). Default: none.
  virtual Array conditions(const Object& object, json::storage_ptr storage) const;
  // True: rows are sorted by row_position(), ascending; rows with equal positions keep the order of the list.
  virtual bool sorts_rows() const noexcept { return false; }
  virtual std::int64_t row_position(const Object&) const { return 0; }
};

// The table convertor for columns as data.
class ColumnTable final : public TableConvertor {
 public:
  explicit ColumnTable(std::vector<TableColumn> columns, PrintConditions conditions = nullptr);
  const std::vector<TableColumn>& columns() const override { return columns_; }
  Array cells(const Object& object, std::int64_t now_unix, json::storage_ptr storage) const override;
  Array conditions(const Object& object, json::storage_ptr storage) const override;

 private:
  std::vector<TableColumn> columns_;
  Value cell_at(std::size_t column, const Object& object, std::int64_t now_unix, const json::storage_ptr& storage) const;
  const Value* found_at(std::size_t column, const Object& object) const;
  std::string joined_at(std::size_t column, const Object& object) const;

  std::vector<std::vector<JsonPath>> paths_;  // valid ones; others are skipped
  PrintConditions print_conditions_;
};

// Name and Created At, for kinds without a printer (rest.NewDefaultTableConvertor).
const TableConvertor& default_table_convertor();

// duration.HumanDuration: "5s", "3m20s", "2d3h". human_age(): of the time since an RFC 3339 text; "<unknown>" if it is empty.
std::string human_age(std::string_view rfc3339, std::int64_t now_unix);
std::string human_duration(std::int64_t seconds);

}  // namespace BACKPLANE_API
