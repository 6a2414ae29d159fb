// A storage that forwards every call to another storage. Derive from it to change single verbs.
//
// Thread-safety: like the wrapped storage.
// Lifetime:      owns a reference to the wrapped storage.
// Errors:        those of the wrapped storage, unchanged.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backplane/core/request.hpp"
#include "backplane/rest/object_defaults.hpp"
#include "backplane/rest/roles.hpp"
#include "backplane/rest/standard_storage.hpp"
#include "backplane/rest/table.hpp"
#include "backplane/rest/update_info.hpp"
#include "backplane/types/schema.hpp"

namespace backplane {
namespace kit BACKPLANE_API {

// Forwards the calls to `store`, which must not be null.
class ForwardingStorage : public StandardStorage, public ObjectDefaulter {
 public:
  explicit ForwardingStorage(std::shared_ptr<StandardStorage> store) : store_(std::move(store)) {}

  GroupVersionKind kind() const override { return store_->kind(); }
  const Schema* schema() const override { return store_->schema(); }
  bool namespaced() const override { return store_->namespaced(); }
  std::string singular_name() const override { return store_->singular_name(); }
  std::vector<std::string> short_names() const override { return store_->short_names(); }
  std::vector<std::string> categories() const override { return store_->categories(); }
  GroupVersionKind storage_version() const override { return store_->storage_version(); }
  const TableConvertor& table_convertor() const override { return store_->table_convertor(); }
  std::optional<std::string_view> field(const ObjectEntry& object, std::string_view label) const override {
    return store_->field(object, label);
  }
  std::string list_kind() const override { return store_->list_kind(); }
  bool deletes_collections() const override { return store_->deletes_collections(); }
  std::string deprecation_warning() const override { return store_->deprecation_warning(); }
  bool returns_deleted() const noexcept override { return store_->returns_deleted(); }
  bool admits_writes() const noexcept override { return store_->admits_writes(); }
  HostStore* host_store() noexcept override { return store_->host_store(); }
  void set_defaults(Value& object) const override;

  Task<Result<ObjectRef>> get(RequestContext& context, std::string name, GetOptions options) override;
  Task<Result<ListResult>> list(RequestContext& context, ListOptions options) override;
  Task<Result<std::unique_ptr<WatchStream>>> watch(RequestContext& context, ListOptions options) override;
  Task<Result<ObjectRef>> create(RequestContext& context, Object& object, WriteOptions options) override;
  Task<Result<UpdateResult>> update(RequestContext& context, std::string name, UpdatedObjectInfo& info, WriteOptions options,
                                    bool force_allow_create) override;
  Task<Result<DeleteResult>> remove(RequestContext& context, std::string name, DeleteOptions options) override;
  Task<Result<ListResult>> remove_collection(RequestContext& context, DeleteOptions options, ListOptions list) override;

  // The wrapped storage, for subclasses.
 protected:
  StandardStorage& store() const noexcept { return *store_; }

 private:
  std::shared_ptr<StandardStorage> store_;
};

}  // namespace BACKPLANE_API
}  // namespace backplane
