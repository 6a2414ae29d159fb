// The generic store: a StandardStorage made from a Strategy. Its verbs are implemented in store_create.cpp, store_update.cpp,
// store_delete.cpp, store_collection.cpp and store_read.cpp.
//
// Thread-safety: every method from any executor; the store itself never changes after construction.
// Lifetime:      shared; requests keep it alive through their route.
// Errors:        complete Statuses; kServiceUnavailable before StoreEnvironment::start().
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "backplane/points/admission.hpp"
#include "backplane/rest/store_hooks.hpp"
#include "base/blocking_calls.hpp"
#include "registry/environment.hpp"
#include "registry/fields/stored_versions.hpp"
#include "registry/key_turns.hpp"
#include "registry/served_store.hpp"
#include "registry/store_keys.hpp"
#include "registry/write_preparation.hpp"

namespace backplane::registry {

class ObjectStore final : public ServedStore {
 public:
  // `hold`: see make_store().
  ObjectStore(std::shared_ptr<StoreEnvironment::State> environment, ResourceConfig config, const Hold& hold = {});
  ~ObjectStore() override;

  // ---- facts
  GroupVersionKind kind() const override { return config_.kind; }
  const Schema* schema() const override { return config_.schema; }
  bool namespaced() const override { return keys_.namespaced(); }
  std::string singular_name() const override { return config_.singular; }
  std::vector<std::string> short_names() const override { return config_.short_names; }
  std::vector<std::string> categories() const override { return config_.categories; }
  GroupVersionKind storage_version() const override { return config_.encoded_as.kind.empty() ? config_.kind : config_.encoded_as; }
  const TableConvertor& table_convertor() const override { return config_.strategy->table_convertor(); }
  std::optional<std::string_view> field(const ObjectEntry& object, std::string_view label) const override;
  std::string list_kind() const override { return config_.list_kind; }
  std::string deprecation_warning() const override { return config_.deprecation_warning; }
  bool returns_deleted() const noexcept override { return config_.strategy->facts().returns_deleted; }
  bool deletes_collections() const override { return config_.strategy->facts().deletes_collections; }
  const ResourceConfig& config() const noexcept { return config_; }
  // The BlockingCalls interface of the strategy; null: the strategy's functions do not block.
  const BlockingCalls* blocking_calls() const noexcept { return blocking_calls_; }

  // ---- verbs
  Task<Result<ObjectRef>> get(RequestContext& context, std::string name, GetOptions options) override;
  Task<Result<ListResult>> list(RequestContext& context, ListOptions options) override;
  Task<Result<std::unique_ptr<WatchStream>>> watch(RequestContext& context, ListOptions options) override;
  Task<Result<ObjectRef>> create(RequestContext& context, Object& object, WriteOptions options) override;
  Task<Result<UpdateResult>> update(RequestContext& context, std::string name, UpdatedObjectInfo& info, WriteOptions options,
                                    bool force_allow_create) override;
  Task<Result<DeleteResult>> remove(RequestContext& context, std::string name, DeleteOptions options) override;
  Task<Result<ListResult>> remove_collection(RequestContext& context, DeleteOptions options, ListOptions list) override;

  Task<Result<bool>> transact(RequestContext& context, BegunWrite& write) override;

  // ---- ObjectDefaulter
  void set_defaults(Value& object) const override;

  // ---- ServedStore
  ObjectStore& stored() noexcept override { return *this; }
  const ServedNames& served_names() const noexcept override { return served_names_; }
  const Strategy* view_strategy() const noexcept override { return nullptr; }
  const FieldManager& fields() const noexcept override { return manager_; }
  std::shared_ptr<const FieldVersions> versions() const noexcept override { return versions_; }
  const StoredVersions& served_versions() const noexcept { return *versions_; }
  // Adds a version that is served as a view of this store, which means: converted from it.
  void add_view(const std::shared_ptr<const Conversion>& view) { versions_->add(view); }
  Task<Result<UpdateResult>> update_through(WriteMode mode, const Strategy* view_strategy, RequestContext& context, std::string name,
                                            UpdatedObjectInfo& info, WriteOptions options, bool force_allow_create) override;

  // ---- the verbs for other classes of the registry: errors have the names in `mode`, and the admission in `mode` runs
  Task<Result<ObjectRef>> get_as(WriteMode mode, RequestContext& context, std::string name, GetOptions options);
  Task<Result<ObjectRef>> create_as(WriteMode mode, RequestContext& context, Object& object, WriteOptions options);
  Task<Result<UpdateResult>> update_as(WriteMode mode, RequestContext& context, std::string name, UpdatedObjectInfo& info,
                                       WriteOptions options, bool force_allow_create);
  Task<Result<DeleteResult>> remove_as(WriteMode mode, RequestContext& context, std::string ns, std::string name, DeleteOptions options);
  Task<Result<ListResult>> remove_collection_as(WriteMode mode, RequestContext& context, DeleteOptions options, ListOptions list);
  // The mode of writes in the stored version.
  WriteMode default_mode() const;
  // The entry of the stored object, read from the backend; null: it does not exist.
  Task<Result<ObjectRef>> read_stored(const Backing& backing, std::string key);
  const Backing* backing() const noexcept { return slot_.get(); }
  const StoreKeys& keys() const noexcept { return keys_; }
  // The kind of the objects under the store's key prefix.
  StoredKind kept_kind() const;
  bool made_with(const Hold& hold) const noexcept { return !hold_.owner_before(hold) && !hold.owner_before(hold_); }
  // Serializes updates and deletes that would conflict with each other.
  KeyTurns& turns() const noexcept { return turns_; }
  // The lease for an object that is written now; 0 for kinds that do not expire.
  Task<Result<LeaseId>> lease(const Backing& backing) const;
  // The fields that disabled feature gates remove from objects, determined at the first write; null: none.
  const GatedFields* gated(const Backing& backing) const;
  bool sorted_keys() const noexcept { return slot_.config().sorted_keys; }

  AdmissionAttributes attributes(const WriteMode& mode, RequestContext& context, AdmissionOperation operation, std::string_view name) const;

 private:
  // Removes an object that cannot be read (DeleteOptions::ignore_read_error). Errors: 422 if the object can be read.
  // As upstream (corruptObjectDeleter), no preconditions, finalizers, admission or hooks apply, because all of them need the object. The
  // endpoint has checked the permission unsafe-delete-ignore-read-errors.
  Task<Result<DeleteResult>> remove_unread(WriteMode mode, const Backing& backing, RequestContext& context, std::string name,
                                           std::string key);
  // Calls create_once(); if the object is too large for the backend, calls it once more without managedFields.
  Task<Result<ObjectRef>> create_fitting(WriteMode mode, const Backing& backing, RequestContext& context, Object& object,
                                         const WriteOptions& options, AdmissionAttributes* attributes);
  // One attempt of a create, with the name of the object or a generated one.  `attributes`: for validating admission; null: admission does
  // not apply.
  Task<Result<ObjectRef>> create_once(WriteMode mode, const Backing& backing, RequestContext& context, Object& object,
                                      const WriteOptions& options, AdmissionAttributes* attributes);
  // The part of a create between begin and finish of the hooks. Returns null if a change that a hook has joined can no longer be committed.
  Task<Result<ObjectRef>> store_new(WriteMode mode, const Backing& backing, RequestContext& context, Object& object,
                                    const WriteOptions& options, AdmissionAttributes* attributes, BegunWrite* begun);
  Result<CacheScope> scope_of(const RequestContext& context, const ListOptions& options) const;

  std::shared_ptr<StoreEnvironment::State> environment_;
  ResourceConfig config_;
  const BlockingCalls* const blocking_calls_;
  ServedNames served_names_;
  const std::shared_ptr<StoredVersions> versions_;
  const FieldManager manager_;
  std::vector<SelectableField> fields_;
  StoreKeys keys_;
  const std::weak_ptr<const void> hold_;
  BackingSlot slot_;
  mutable KeyTurns turns_;
  mutable std::once_flag gates_asked_;
  mutable std::unique_ptr<const GatedFields> gated_;
};

// The errors for one object; they name the group and plural of `served_names`.
Status not_found_error(const ServedNames& served_names, std::string_view name);
Status conflict_error(const ServedNames& served_names, std::string_view name, std::string_view why);
Status exists_error(const ServedNames& served_names, const Object& object, bool being_deleted);

// The admission of a write.
inline WriteAdmission& admission_of(const WriteMode& mode, const Backing& backing) {
  return mode.admission != nullptr ? *mode.admission : *backing.admission;
}

// The error of each verb before StoreEnvironment::start().
Status not_started();
// True if the request's deadline has passed.
bool expired(const RequestContext& context) noexcept;
Status deadline_error();

// The bytes that are stored for `object`, without spare capacity. Removes resourceVersion and selfLink, which are not stored, from
// `object`. A leading blank marks JSON with raw values.
SharedBytes encode_for_storage(Object& object);
// The entry of an object that is returned but not stored (dry run, or removed).
ObjectRef unstored(const std::string& key, const Object& object);

}  // namespace backplane::registry
