// Server-side printing: metav1.Table, the response to `kubectl get`.
//
// Thread-safety: convertors are const and called from any thread.
// Errors:        none; a value that cannot be printed results in an empty cell.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"
#include "backplane/core/visibility.hpp"
#include "backplane/types/json_path.hpp"

namespace backplane BACKPLANE_API {

// Returns the cell for the value at a column's path. `found` is null if there is no value.
using PrintFound = Value (*)(const Value* found, std::int64_t now_unix);
// Appends cells that are computed from the whole object: the cell of the function's column, and those of the following columns that have
// neither a path nor a function.
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
  int priority = 0;       // greater than 0: kubectl shows the column only with -o wide
  std::string path = {};  // kubectl's JSONPath (".spec.replicas"); `type` determines how the value is printed
  // Paths that are tried, in order, if there is no value at `path`. A null counts as no value.
  std::vector<std::string> fallbacks = {};
  // If set: the cell contains all values at `path` and `fallbacks`, including list items, separated by this text.
  std::optional<std::string> join = {};
  Value absent = {};             // the cell if there is no value
  bool absent_if_empty = false;  // `absent` also applies if the value is an empty string
  // Computes the cell from the value at `path`; null: `type` determines how it is printed.
  PrintFound print = nullptr;
  // Computes the cell, and possibly those of the following columns, from the whole object; null: not used.
  PrintCells cells = nullptr;
};

// Columns of a kind, and the cells of one object.
class TableConvertor {
 public:
  virtual ~TableConvertor();
  virtual const std::vector<TableColumn>& columns() const = 0;
  // Returns one cell for each column, in the order of the columns. `now_unix`: the current time in seconds since 1970, for ages.
  virtual Array cells(const Object& object, std::int64_t now_unix, json::storage_ptr storage) const = 0;
  // Returns the row's TableRowConditions ("Completed" for finished objects). Default: none.
  virtual Array conditions(const Object& object, json::storage_ptr storage) const;
  // True: rows are sorted by row_position(), ascending; rows with equal positions keep the order of the list.
  virtual bool sorts_rows() const noexcept { return false; }
  virtual std::int64_t row_position(const Object&) const { return 0; }
};

// A table convertor whose columns are data.
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

  std::vector<std::vector<JsonPath>> paths_;  // the valid paths of each column; invalid paths are skipped
  PrintConditions print_conditions_;
};

// The columns Name and Created At, for kinds without a printer (rest.NewDefaultTableConvertor).
const TableConvertor& default_table_convertor();

// Durations as duration.HumanDuration prints them: "5s", "3m20s", "2d3h". human_age() prints the time since an RFC 3339 time, or
// "<unknown>" if the text is empty.
std::string human_age(std::string_view rfc3339, std::int64_t now_unix);
std::string human_duration(std::int64_t seconds);

}  // namespace BACKPLANE_API
