// Printer columns of a custom resource: Name, then what the definition's version asks for, or Age when it asks for nothing.
//
// Thread-safety: immutable.
#pragma once

#include <vector>

#include "backplane/table.hpp"
#include "json_path.hpp"

namespace backplane::apiextensions {

class CustomTable final : public TableConvertor {
 public:
  // `version`: an element of spec.versions.
  explicit CustomTable(const Object& version);
  const std::vector<TableColumn>& columns() const override { return columns_; }
  Array cells(const Object& object, std::int64_t now_unix, json::storage_ptr storage) const override;

 private:
  void add(TableColumn column, std::string_view json_path);

  std::vector<TableColumn> columns_;
  std::vector<std::optional<JsonPath>> paths_;  // of the columns after the first
};

}  // namespace backplane::apiextensions
