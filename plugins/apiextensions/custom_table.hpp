// Tables of custom resources: Name, then what the definition's version asks for, or Age when it asks for nothing.
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
  // `version`: an element of spec.versions.  The first column whose path cannot be read, and those behind it, are left out.
  explicit CustomTable(const Object& version);
  const std::vector<TableColumn>& columns() const override { return columns_; }
  Array cells(const Object& object, std::int64_t now_unix, json::storage_ptr storage) const override;

 private:
  void add(TableColumn column, ColumnPath path);

  std::vector<TableColumn> columns_;
  std::vector<ColumnPath> paths_;  // of all but the first
};

// The table of a version; versions that ask for no columns share one.
std::shared_ptr<const CustomTable> custom_table(const Object& version);

}  // namespace backplane::apiextensions
