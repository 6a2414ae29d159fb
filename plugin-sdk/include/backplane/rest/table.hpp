// Server-side printing: metav1.Table.
//
// Thread-safety: convertors are const and called from any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"
#include "backplane/core/visibility.hpp"
#include "backplane/types/json_path.hpp"

namespace backplane BACKPLANE_API {

// How what stands at a column's path is shown; `found` is null when nothing stands there.
using PrintFound = Value (*)(const Value* found, std::int64_t now_unix);
// Appends what is worked out of the whole object: the cell of its column, and of the columns behind it that say nothing of their own.
using PrintCells = void (*)(const Object& object, std::int64_t now_unix, Array& cells);
// Appends the row's TableRowConditions.
using PrintConditions = void (*)(const Object& object, Array& conditions);

// A column, and where its cells come from: a path, or a function.
struct TableColumn {
  std::string name = {};
  std::string type = "string";  // string integer number boolean date
  std::string format = {};      // "name" on the first column
  std::string description = {};
  int priority = 0;       // > 0: only in wide output
  std::string path = {};  // kubectl's JSONPath (".spec.replicas"); the value is shown as `type` says
  // Where nothing stands at the path, the first of these at which something does, and not null.
  std::vector<std::string> fallbacks = {};
  // Set: all that stands at the path and the fallbacks, lists item by item, with this text between.
  std::optional<std::string> join = {};
  Value absent = {};             // shown when nothing stands there
  bool absent_if_empty = false;  // nor anything but an empty text
  PrintFound print = nullptr;
  PrintCells cells = nullptr;
};

// Columns of a kind and the cells of one object.
class TableConvertor {
 public:
  virtual ~TableConvertor();
  virtual const std::vector<TableColumn>& columns() const = 0;
  // One cell per column, in order.  `now_unix` is the time ages are counted from.
  virtual Array cells(const Object& object, std::int64_t now_unix, json::storage_ptr storage) const = 0;
  // The row's TableRowConditions ("Completed": the object's work is over); none, unless said.
  virtual Array conditions(const Object& object, json::storage_ptr storage) const;
  // True: rows are sorted by row_position(), lowest first; rows of the same position keep the order of the list.
  virtual bool sorts_rows() const noexcept { return false; }
  virtual std::int64_t row_position(const Object&) const { return 0; }
};

// The one printer of tables: columns as data.
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

  std::vector<std::vector<JsonPath>> paths_;  // those that can be read
  PrintConditions print_conditions_;
};

// Name and Created At, as upstream prints kinds without a printer (rest.NewDefaultTableConvertor).
const TableConvertor& default_table_convertor();

// duration.HumanDuration of the time since an RFC 3339 text: "5s", "3m20s", "2d3h", "<unknown>" when empty.
std::string human_age(std::string_view rfc3339, std::int64_t now_unix);
std::string human_duration(std::int64_t seconds);

}  // namespace BACKPLANE_API
