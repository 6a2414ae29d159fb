// Server-side printing: metav1.Table.
//
// Thread-safety: convertors are const and called from any thread.
#pragma once

#include <string>
#include <vector>

#include "backplane/json.hpp"
#include "backplane/status.hpp"
#include "backplane/visibility.hpp"

namespace backplane BACKPLANE_API {

struct TableColumn {
  std::string name;
  std::string type = "string";  // string integer number boolean date
  std::string format;           // "name" on the first column
  std::string description;
  int priority = 0;  // > 0: only in wide output
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
};

// Name and Created At, as upstream prints kinds without a printer (rest.NewDefaultTableConvertor).
const TableConvertor& default_table_convertor();

// duration.HumanDuration of the time since an RFC 3339 text: "5s", "3m20s", "2d3h", "<unknown>" when empty.
std::string human_age(std::string_view rfc3339, std::int64_t now_unix);
std::string human_duration(std::int64_t seconds);

}  // namespace BACKPLANE_API
