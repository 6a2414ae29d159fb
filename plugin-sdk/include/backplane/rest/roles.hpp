// The roles of a storage: one interface per verb (k8s.io/apiserver/pkg/registry/rest). A storage implements the roles that it supports.
// The host determines them once, when the storage is installed, and builds its route table and discovery from them.
//
// Thread-safety: every method may be called from any executor at any time.
// Lifetime:      storages are shared with the host and outlive every request on them.
// Errors:        a Status with group, resource and name set, which is sent to the client unchanged.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backplane/core/object.hpp"
#include "backplane/core/options.hpp"
#include "backplane/core/request.hpp"
#include "backplane/core/visibility.hpp"
#include "backplane/points/admission.hpp"
#include "backplane/points/http.hpp"
#include "backplane/rest/conversion.hpp"
#include "backplane/rest/store_hooks.hpp"
#include "backplane/rest/strategy.hpp"
#include "backplane/rest/table.hpp"
#include "backplane/types/schema.hpp"

namespace backplane BACKPLANE_API {

// The base of every storage.
class RestStorage {
 public:
  virtual ~RestStorage();
  // Kind of the objects that this storage accepts and returns. Subresources may use a kind of another group (autoscaling/v1 Scale).
  virtual GroupVersionKind kind() const = 0;
  // Schema of those objects; null only for storages without a body (proxy, exec).
  virtual const Schema* schema() const = 0;
  // True: the storage calls admission itself, inside its retry loop, as every storage of Host::make_storage does. False: the endpoint
  // calls admission before it calls the storage.
  virtual bool admits_writes() const noexcept { return false; }
  // A Warning header of every response of the resource; empty: none.
  virtual std::string deprecation_warning() const { return {}; }
};

// The storage in one of its roles; null if it does not have that role. The host calls it at installation and keeps the result.
template <class Role>
Role* role_of(RestStorage* storage) noexcept {
  return dynamic_cast<Role*>(storage);
}
template <class Role>
Role* role_of(const std::shared_ptr<RestStorage>& storage) noexcept {
  return role_of<Role>(storage.get());
}

// The same with shared ownership of the storage.
template <class Role>
std::shared_ptr<Role> shared_role_of(std::shared_ptr<RestStorage> storage) noexcept {
  Role* const role = role_of<Role>(storage.get());
  return role != nullptr ? std::shared_ptr<Role>(std::move(storage), role) : nullptr;
}

// Required of every resource: whether its objects have a namespace.
class Scoper {
 public:
  virtual ~Scoper();
  virtual bool namespaced() const = 0;
};
// Discovery's singularName.
class SingularNameProvider {
 public:
  virtual ~SingularNameProvider();
  virtual std::string singular_name() const = 0;
};
// Discovery's shortNames.
class ShortNamesProvider {
 public:
  virtual ~ShortNamesProvider();
  virtual std::vector<std::string> short_names() const = 0;
};
// Discovery's categories ("all").
class CategoriesProvider {
 public:
  virtual ~CategoriesProvider();
  virtual std::vector<std::string> categories() const = 0;
};
// The version in which objects are stored.
class StorageVersionProvider {
 public:
  virtual ~StorageVersionProvider();
  virtual GroupVersionKind storage_version() const = 0;  // hashed into discovery's storageVersionHash
};
// Rows for clients that accept a Table; without the role, Name and Created At.
class TableProvider {
 public:
  virtual ~TableProvider();
  virtual const TableConvertor& table_convertor() const = 0;
};

// Values of field selectors for a storage's objects.
class FieldReader {
 public:
  virtual ~FieldReader();
  // The value of a selectable field ("status.phase") of an object that this storage returned, without parsing it; empty if the object
  // does not have the field; nullopt if the storage has no such label. The view is valid as long as the object.
  virtual std::optional<std::string_view> field(const ObjectEntry& object, std::string_view label) const = 0;
};

// The objects of a list, in batches, so that a list is never in memory as a whole.
class ObjectCursor {
 public:
  virtual ~ObjectCursor();
  // The next objects in order, at most a few hundred; empty at the end. Valid until the next call. One call at a time. A long search that
  // finds little yields to other work of the executor.
  // Errors: those of the source; the list then ends incomplete.
  virtual Task<Result<std::span<const ObjectEntry* const>>> next() = 0;
  // Restarts at the first object; not while next() is pending. False: this cursor cannot restart and keeps its position.
  virtual bool rewind() { return false; }
};
// A cursor over objects in memory.
std::unique_ptr<ObjectCursor> make_cursor(std::vector<ObjectRef> entries);
// Calls `visit` for every remaining object. Errors: the cursor's.
Task<Status> for_each(ObjectCursor& items, std::function<void(const ObjectEntry&)> visit);

// The result of list and deletecollection.
struct ListResult {
  Revision revision = 0;                  // metadata.resourceVersion
  std::string continue_token;             // metadata.continue; empty: the list is complete
  std::optional<std::int64_t> remaining;  // metadata.remainingItemCount
  std::unique_ptr<ObjectCursor> items;
};

// One event of a watch.
struct WatchEvent {
  using Type = EventType;
  Type type = Type::kAdded;
  ObjectRef object;  // kBookmark: an entry whose JSON is the bookmark; kError: a Status
};

// A running watch.
class WatchStream {
 public:
  virtual ~WatchStream();
  // Waits for at least one event. An empty vector: the watch has ended without an error.
  // Errors: kExpired or kGone if the watcher is slower than the retained history; the stream has then ended.
  virtual Task<Result<std::vector<WatchEvent>>> next() = 0;
  // Ends a pending next() and all later ones with an empty vector. Any thread.
  virtual void cancel() = 0;
};

// GET of one object.
class Getter {
 public:
  virtual ~Getter();
  // Errors: kNotFound.
  virtual Task<Result<ObjectRef>> get(RequestContext& context, std::string name, GetOptions options) = 0;
};
// GET of a collection.
class Lister {
 public:
  virtual ~Lister();
  virtual std::string list_kind() const = 0;  // "PodList"
  virtual Task<Result<ListResult>> list(RequestContext& context, ListOptions options) = 0;
};
// WATCH of a collection, or of one object by the field selector metadata.name.
class Watcher {
 public:
  virtual ~Watcher();
  // Errors: kExpired if the history from options.resource_version on is compacted.
  virtual Task<Result<std::unique_ptr<WatchStream>>> watch(RequestContext& context, ListOptions options) = 0;
};

// Runs the enabled admission plugins for one write.
class AdmissionRunner {
 public:
  virtual ~AdmissionRunner();
  // All mutating plugins. May change *attributes.object.
  virtual Task<Status> admit(AdmissionAttributes& attributes) = 0;
  // All validating plugins.
  virtual Task<Status> validate(const AdmissionAttributes& attributes) = 0;
  // Whether any enabled plugin reads metadata.managedFields (AdmissionPlugin::reads_managed_fields).
  virtual bool reads_managed_fields() const noexcept { return true; }
};

// POST of a collection.
class Creater {
 public:
  virtual ~Creater();
  // `object` is normalized and has its schema's defaults; the storage may change it. Returns the stored object.
  virtual Task<Result<ObjectRef>> create(RequestContext& context, Object& object, WriteOptions options) = 0;
};
// POST of a subresource.
class NamedCreater {
 public:
  virtual ~NamedCreater();
  // POST /resource/name/subresource. Returns the object or a Status (pods/binding), which is sent with 201.
  virtual Task<Result<ObjectRef>> create_named(RequestContext& context, std::string name, Object& object, WriteOptions options) = 0;
};

// What the client sent with an update: the configuration of an apply, and the original values that error messages quote. Defined by the
// host.
class ClientWrite;

// Computes the new object from the stored one. The store calls it again for each attempt after a conflict.
//
//   PUT    returns the body that the client sent
//   PATCH  applies the patch to `existing`
//   apply  merges the configuration; change_applied() then changes the result
class UpdatedObjectInfo {
 public:
  virtual ~UpdatedObjectInfo();
  // `existing` is null if the object does not exist. The result is allocated in the request's arena.
  virtual Task<Result<Object>> updated_object(RequestContext& context, const Object* existing) = 0;
  // Conditions on the stored object that the client sent; checked in each attempt.
  virtual Preconditions preconditions() const { return {}; }
  // Called before an update creates an object, in each attempt, after mutating and before validating admission: checks that the user may
  // create it.
  // Errors: kForbidden, sent unchanged. The default allows it.
  virtual Task<Status> may_create(RequestContext& context);
  // Null if no client sent the update. An info that wraps another one returns the wrapped one's.
  virtual ClientWrite* client_write() noexcept { return nullptr; }
  // Changes the object of an apply, which the store merges itself instead of calling updated_object(). Called once for each attempt.
  virtual Task<Status> change_applied(RequestContext& context, Object& object, const Object* existing);
};
// An info that changes the object of another one, for PUT, patch and apply alike (upstream: WrapUpdatedObjectInfo).
class WrappedObjectInfo : public UpdatedObjectInfo {
 public:
  // `wrapped` must outlive this info.
  explicit WrappedObjectInfo(UpdatedObjectInfo& wrapped) noexcept : wrapped_(wrapped) {}
  Task<Result<Object>> updated_object(RequestContext& context, const Object* existing) override;
  Preconditions preconditions() const override { return wrapped_.preconditions(); }
  Task<Status> may_create(RequestContext& context) override;
  ClientWrite* client_write() noexcept override { return wrapped_.client_write(); }
  Task<Status> change_applied(RequestContext& context, Object& object, const Object* existing) override;

 protected:
  // Changes `object`, which the wrapped info has computed. `existing` is null if the object does not exist.
  virtual Task<Status> change(RequestContext& context, Object& object, const Object* existing) = 0;

 private:
  UpdatedObjectInfo& wrapped_;
};
// The result of an update.
struct UpdateResult {
  ObjectRef object;
  bool created = false;
  // True if the update removed the last finalizer of an object that was being deleted: `object` is its last state.
  bool deleted = false;
};
// PUT, and with Getter also PATCH.
class Updater {
 public:
  virtual ~Updater();
  // `force_allow_create`: create the object if it does not exist, as server-side apply does.
  virtual Task<Result<UpdateResult>> update(RequestContext& context, std::string name, UpdatedObjectInfo& info, WriteOptions options,
                                            bool force_allow_create) = 0;
};
// A storage that has Getter and Updater supports PATCH unless it has this role.
class PatchForbidder {
 public:
  virtual ~PatchForbidder();
};

// The result of a delete.
struct DeleteResult {
  ObjectRef object;      // the removed object, or the one that is marked as being deleted
  bool deleted = false;  // false: the object stays until its finalizers are removed or its grace period ends
  // Respond with the object (pods, namespaces …) instead of a Status.
  bool return_object = false;
};
// DELETE of one object.
class GracefulDeleter {
 public:
  virtual ~GracefulDeleter();
  // Whether a delete returns the object (upstream: ReturnDeletedObject) or a Status. Documented in OpenAPI.
  virtual bool returns_deleted() const noexcept { return false; }
  // Errors: kNotFound; kConflict if a precondition fails.
  virtual Task<Result<DeleteResult>> remove(RequestContext& context, std::string name, DeleteOptions options) = 0;
};
// DELETE of a collection.
class CollectionDeleter {
 public:
  virtual ~CollectionDeleter();
  // False: the resource does not support the verb although its storage has the role (KindFacts::deletes_collections).
  virtual bool deletes_collections() const { return true; }
  // Returns the list of the deleted objects.
  virtual Task<Result<ListResult>> remove_collection(RequestContext& context, DeleteOptions options, ListOptions list) = 0;
};

// Raw HTTP for a subresource (proxy, exec, log). See rest/connect.hpp for subresources with options.
// The storage sends the response itself; admission has admitted the connect.
class Connecter {
 public:
  virtual ~Connecter();
  // HTTP methods, upper case.
  virtual std::vector<std::string> connect_methods() const = 0;
  // Sends the whole response.
  virtual Task<void> connect(RequestContext& context, std::string name, Exchange& exchange) = 0;
};

// ---- storages that the host makes from a Strategy

// The part of a StandardStorage that only the host uses. Defined by the host.
class HostStore;

// All roles of an ordinary resource. Host::make_storage returns one.
class StandardStorage : public RestStorage,
                        public Scoper,
                        public SingularNameProvider,
                        public ShortNamesProvider,
                        public CategoriesProvider,
                        public StorageVersionProvider,
                        public TableProvider,
                        public FieldReader,
                        public Getter,
                        public Lister,
                        public Watcher,
                        public Creater,
                        public Updater,
                        public GracefulDeleter,
                        public CollectionDeleter {
 public:
  ~StandardStorage() override;
  // The store of Host::make_storage that holds the objects; a storage that wraps another one forwards the call. Null: the objects are not
  // in such a store, so they cannot join a transaction or have subresources of Host::make_subresource.
  virtual HostStore* host_store() noexcept { return nullptr; }
  // Commits what `write` joins in a transaction without an object of its own, for background work. join() is called again after a
  // conflict. Returns false if join() returned false. finish() is not called.
  // Errors: those of join() and of the commit; kInternalError if host_store() is null.
  virtual Task<Result<bool>> transact(RequestContext& context, BegunWrite& write);
  const HostStore* host_store() const noexcept { return const_cast<StandardStorage*>(this)->host_store(); }
};

// A subresource that reads and updates the objects of another storage: /status, /scale, /approval. Host::make_subresource returns one.
class SubresourceStorage : public RestStorage, public Scoper, public Getter, public Updater {
 public:
  ~SubresourceStorage() override;
  // The table of the subresource; null: a request that accepts only a Table gets 406.
  virtual const TableConvertor* subresource_table() const noexcept = 0;
};

// One resource in one version. A kind may have several versions over one storage. One of them is the stored version: it is made first,
// from a config without `stored_kind`. Every other version sets `stored_kind` and is a view: the same objects, converted in both
// directions, for every verb.
//
// A write through a view runs the view's strategy (defaults, preparation, rules) and admission on the view's version, converts the
// object, and then runs the stored version's strategy, as every write does.
struct ResourceConfig {
  // The kind and version that this resource serves.
  GroupVersionKind kind;
  // The stored version, if it is not `kind`. It may belong to another plugin, which the manifest must then require.
  GroupVersionKind stored_kind;
  // Converts between `kind` and `stored_kind`; null: the functions that were added to the Scheme, one for each direction.
  std::shared_ptr<const ObjectConverter> converter;
  // The version in which objects are encoded in a store that other servers share (a store with an encoding other than JSON), if it
  // differs from the stored version. It is not served; the Scheme converts to and from it. Discovery's storageVersionHash is computed
  // from it.
  GroupVersionKind encoded_as;
  bool stored_as_json = false;  // encode as JSON in every store, even though the kind has a protobuf encoding
  std::string resource;         // plural, lower case
  std::string singular;         // empty: lower-case kind
  std::vector<std::string> short_names;
  std::vector<std::string> categories;
  // The type of the objects.
  const Schema* schema = nullptr;
  std::shared_ptr<const SchemaSet> schemas;  // keeps `schema` alive
  // For the stored version: never null. For a view: rules on its own version in addition to the stored version's, or null; of its facts
  // only the columns are used, and without columns the stored version's are shown.
  std::shared_ptr<const Strategy> strategy;
  // Called around every write of the resource; null: none.
  std::shared_ptr<const StoreHooks> hooks;
  // Objects are removed this long after their last write (events); 0: never.
  std::chrono::seconds time_to_live{0};
  // Keys are "/registry/" + storage_prefix + "/" [namespace "/"] name. Empty: the plural (custom resources: group/plural, as upstream).
  std::string storage_prefix;
  std::string list_kind;  // empty: the kind + "List"
  // A Warning header of every response ("v1 Thing is deprecated in v1.30+; use …"); empty: none.
  std::string deprecation_warning;
};

}  // namespace BACKPLANE_API
