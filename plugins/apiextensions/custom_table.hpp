// Tables of custom resources: the column Name, then the columns of the definition's version. A version without columns has the column Age.
//
// Thread-safety: immutable.
#pragma once

#include <memory>
#include <vector>

#include "backplane/rest/table.hpp"
#include "column_path.hpp"

namespace backplane::apiextensions {

class CustomTable final : public TableConvertor {
 public:
  // `version`: an element of spec.versions.  The first column whose path cannot be read, and the following ones, are left out.
  explicit CustomTable(const Object& version);
  const std::vector<TableColumn>& columns() const override { return columns_; }
  Array cells(const Object& object, std::int64_t now_unix, json::storage_ptr storage) const override;

 private:
  void add(TableColumn column, ColumnPath path);

  std::vector<TableColumn> columns_;
  std::vector<ColumnPath> paths_;  // the paths of all columns except Name
};

// The table of a version; versions without columns share one.
std::shared_ptr<const CustomTable> custom_table(const Object& version);

}  // namespace backplane::apiextensions
