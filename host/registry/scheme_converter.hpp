// Converts objects with the conversion functions of the Scheme.
//
// Thread-safety: immutable; any thread, once the environment has its Scheme.
// Lifetime:      shares the environment's state.
// Errors:        those of the functions; kServiceUnavailable before the environment has a Scheme.
#pragma once

#include <memory>

#include "backplane/rest/conversion.hpp"
#include "registry/object_store.hpp"

namespace backplane::registry {

class SchemeConverter final : public ObjectConverter {
 public:
  // `strategy`: the stored version's; its plugin also contains the conversion functions.
  SchemeConverter(std::shared_ptr<StoreEnvironment::State> environment, std::shared_ptr<const Strategy> strategy)
      : environment_(std::move(environment)),
        strategy_(std::move(strategy)),
        // BlockingCalls is an interface of the host and no part of the SDK's Strategy.
        blocking_calls_(dynamic_cast<const BlockingCalls*>(strategy_.get())) {}
  Task<Result<std::vector<Object>>> convert(GroupVersionKind from, GroupVersionKind to, std::vector<Object> objects) const override;
  Result<std::string> stored_field_label(const GroupVersionKind& kind, std::string_view label) const override;

 private:
  Task<Result<std::vector<Object>>> convert_all(GroupVersionKind from, GroupVersionKind to, std::vector<Object> objects) const;

  std::shared_ptr<StoreEnvironment::State> environment_;
  std::shared_ptr<const Strategy> strategy_;
  const BlockingCalls* blocking_calls_;
};

// Prints objects of a served version with the columns of the stored version.
class StoredTable final : public TableConvertor {
 public:
  StoredTable(std::shared_ptr<ObjectStore> stored, GroupVersionKind served, std::shared_ptr<StoreEnvironment::State> environment)
      : stored_(std::move(stored)), served_(std::move(served)), environment_(std::move(environment)) {}
  const std::vector<TableColumn>& columns() const override { return stored_->table_convertor().columns(); }
  Array cells(const Object& object, std::int64_t now_unix, json::storage_ptr storage) const override;
  Array conditions(const Object& object, json::storage_ptr storage) const override;

 private:
  // The object in the stored version; if it cannot be converted, the object unchanged.
  Object stored_form(const Object& object, json::storage_ptr storage) const;

  std::shared_ptr<ObjectStore> stored_;
  GroupVersionKind served_;
  std::shared_ptr<StoreEnvironment::State> environment_;
};

}  // namespace backplane::registry
