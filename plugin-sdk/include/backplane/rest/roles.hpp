// What a resource can do: one small role per verb (k8s.io/apiserver/pkg/registry/rest).  A storage implements the roles it has; the
// host asks once, at install, by dynamic_cast, and builds its route table and discovery from the answers.
//
// Thread-safety: every method may be called from any executor at any time.
// Lifetime:      storages are shared with the host and outlive every request on them.
// Errors:        a Status with group, resource and name already in it, ready to be sent.
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

class RestStorage {
 public:
  virtual ~RestStorage();
  // Kind of the objects this storage takes and gives (for cross-group subresources another group's: autoscaling/v1 Scale).
  virtual GroupVersionKind kind() const = 0;
  // Type of those objects; never null for storages with a body.
  virtual const Schema* schema() const = 0;
  // True: the storage calls context's AdmissionRunner itself, inside its retry loop, as every storage of Host::make_storage does.  False:
  // the endpoint asks admission before it calls the storage.
  virtual bool admits_writes() const noexcept { return false; }
  // Sent as a Warning with every response of the resource; empty: none.
  virtual std::string deprecation_warning() const { return {}; }
};

// The storage in one of its roles; null if it does not have that role.  The host calls it when a storage is installed, and keeps the
// result.
template <class Role>
Role* role_of(RestStorage* storage) noexcept {
  return dynamic_cast<Role*>(storage);
}
template <class Role>
Role* role_of(const std::shared_ptr<RestStorage>& storage) noexcept {
  return role_of<Role>(storage.get());
}

// The same, with a share of the storage's ownership.
template <class Role>
std::shared_ptr<Role> shared_role_of(std::shared_ptr<RestStorage> storage) noexcept {
  Role* const role = role_of<Role>(storage.get());
  return role != nullptr ? std::shared_ptr<Role>(std::move(storage), role) : nullptr;
}

class Scoper {
 public:
  virtual ~Scoper();
  virtual bool namespaced() const = 0;
};
class SingularNameProvider {
 public:
  virtual ~SingularNameProvider();
  virtual std::string singular_name() const = 0;
};
class ShortNamesProvider {
 public:
  virtual ~ShortNamesProvider();
  virtual std::vector<std::string> short_names() const = 0;
};
class CategoriesProvider {
 public:
  virtual ~CategoriesProvider();
  virtual std::vector<std::string> categories() const = 0;
};
class StorageVersionProvider {
 public:
  virtual ~StorageVersionProvider();
  virtual GroupVersionKind storage_version() const = 0;  // hashed into discovery's storageVersionHash
};
class TableProvider {
 public:
  virtual ~TableProvider();
  virtual const TableConvertor& table_convertor() const = 0;
};

// What field selectors see of a storage's objects.
class FieldReader {
 public:
  virtual ~FieldReader();
  // The value of a selectable field ("status.phase") in an object that this storage has given out, without reading the object; empty where
  // the object has none.  It lives as long as the object.  Nothing: the storage has no such label.
  virtual std::optional<std::string_view> field(const ObjectEntry& object, std::string_view label) const = 0;
};

// Objects of a list, batch by batch, without holding them all.
class ObjectCursor {
 public:
  virtual ~ObjectCursor();
  // The next objects in order, a few hundred at most; empty at the end.  They are valid until the next call.  One call at a time.
  // Where many objects are looked at and few are found, others of the executor get their turn in between.
  // Errors: those of the source.  The list ends there, unfinished.
  virtual Task<Result<std::span<const ObjectEntry* const>>> next() = 0;
  // Begins again at the first object; not while a next() is pending.  False: this cursor goes one way, and stays where it is.
  virtual bool rewind() { return false; }
};
// A cursor over objects that are at hand.
std::unique_ptr<ObjectCursor> make_cursor(std::vector<ObjectRef> entries);
// Shows every object that is left to `visit`.  Errors: the cursor's.
Task<Status> for_each(ObjectCursor& items, std::function<void(const ObjectEntry&)> visit);

struct ListResult {
  Revision revision = 0;                  // metadata.resourceVersion
  std::string continue_token;             // empty: complete
  std::optional<std::int64_t> remaining;  // metadata.remainingItemCount
  std::unique_ptr<ObjectCursor> items;
};

struct WatchEvent {
  using Type = EventType;
  Type type = Type::kAdded;
  ObjectRef object;  // kBookmark: entry whose JSON is the bookmark object; kError: a Status
};

class WatchStream {
 public:
  virtual ~WatchStream();
  // Waits for events; at least one.  Errors: kExpired/kGone when the watcher lagged behind the log; the end of the stream is kNone-reason
  // Status with code 200's opposite: an empty vector.
  virtual Task<Result<std::vector<WatchEvent>>> next() = 0;
  // Ends a pending and every later next() with an empty vector.  Any thread.
  virtual void cancel() = 0;
};

class Getter {
 public:
  virtual ~Getter();
  virtual Task<Result<ObjectRef>> get(RequestContext& context, std::string name, GetOptions options) = 0;
};
class Lister {
 public:
  virtual ~Lister();
  virtual std::string list_kind() const = 0;  // "PodList"
  virtual Task<Result<ListResult>> list(RequestContext& context, ListOptions options) = 0;
};
class Watcher {
 public:
  virtual ~Watcher();
  virtual Task<Result<std::unique_ptr<WatchStream>>> watch(RequestContext& context, ListOptions options) = 0;
};

// Runs the admission plugins for one write; empty where admission does not apply (calls of the host itself).
class AdmissionRunner {
 public:
  virtual ~AdmissionRunner();
  virtual Task<Status> admit(AdmissionAttributes& attributes) = 0;
  virtual Task<Status> validate(const AdmissionAttributes& attributes) = 0;
  // Whether some plugin that runs does (AdmissionPlugin::reads_managed_fields).
  virtual bool reads_managed_fields() const noexcept { return true; }
};

class Creater {
 public:
  virtual ~Creater();
  // `object` is normalized and has its schema's defaults.  Returns what was stored.
  virtual Task<Result<ObjectRef>> create(RequestContext& context, Object& object, WriteOptions options) = 0;
};
class NamedCreater {
 public:
  virtual ~NamedCreater();
  // POST on /resource/name/subresource.  Returns the object or a Status object (pods/binding) to be sent with 201.
  virtual Task<Result<ObjectRef>> create_named(RequestContext& context, std::string name, Object& object, WriteOptions options) = 0;
};

// What the client sent with an update, as the host keeps it: the configuration of an apply, the values that error messages quote.
// Defined by the host.
class ClientWrite;

// Computes the new object from the stored one; the store calls it again when it lost a race.
class UpdatedObjectInfo {
 public:
  virtual ~UpdatedObjectInfo();
  // `existing` is null when the object does not exist.  The result lives in the request's arena.
  virtual Task<Result<Object>> updated_object(RequestContext& context, const Object* existing) = 0;
  virtual Preconditions preconditions() const { return {}; }
  // Whether the update may turn out to create the object.  A storage that is about to do so asks, each time it tries, when the object is
  // complete and valid: behind the mutating admission, before the validating one.
  // Errors: kForbidden, to be sent as it is; the default has nothing against it.
  virtual Task<Status> may_create(RequestContext& context);
  // Null: no client sent it.  An info that wraps another one returns what the wrapped one returns.
  virtual ClientWrite* client_write() noexcept { return nullptr; }
  // Changes the object of an apply, which the store merges itself and does not get from updated_object().  Called once for each try.
  virtual Task<Status> change_applied(RequestContext& context, Object& object, const Object* existing);
};
// An info that changes the object of another one, whatever the client sent: PUT, patch or apply (upstream WrapUpdatedObjectInfo).
class WrappedObjectInfo : public UpdatedObjectInfo {
 public:
  // `wrapped` outlives this info.
  explicit WrappedObjectInfo(UpdatedObjectInfo& wrapped) noexcept : wrapped_(wrapped) {}
  Task<Result<Object>> updated_object(RequestContext& context, const Object* existing) override;
  Preconditions preconditions() const override { return wrapped_.preconditions(); }
  Task<Status> may_create(RequestContext& context) override;
  ClientWrite* client_write() noexcept override { return wrapped_.client_write(); }
  Task<Status> change_applied(RequestContext& context, Object& object, const Object* existing) override;

 protected:
  // Changes `object`, which the wrapped info has made.  `existing` is null when the object does not exist.
  virtual Task<Status> change(RequestContext& context, Object& object, const Object* existing) = 0;

 private:
  UpdatedObjectInfo& wrapped_;
};
struct UpdateResult {
  ObjectRef object;
  bool created = false;
  // The update took the last finalizer of an object that was being deleted: `object` is what it was at its end.
  bool deleted = false;
};
class Updater {
 public:
  virtual ~Updater();
  // `force_allow_create`: server-side apply creates what is missing.
  virtual Task<Result<UpdateResult>> update(RequestContext& context, std::string name, UpdatedObjectInfo& info, WriteOptions options,
                                            bool force_allow_create) = 0;
};
// Patcher = Getter + Updater; a storage that has both can be patched unless it says no.
class PatchForbidder {
 public:
  virtual ~PatchForbidder();
};

struct DeleteResult {
  ObjectRef object;      // what was removed or marked
  bool deleted = false;  // false: it stays until finalizers or the grace period are done
  // Answer with the object (kinds whose delete returns it: pods, namespaces …) or with a Status.
  bool return_object = false;
};
class GracefulDeleter {
 public:
  virtual ~GracefulDeleter();
  // Whether a delete returns the object (upstream ReturnDeletedObject) or a Status; OpenAPI says so too.
  virtual bool returns_deleted() const noexcept { return false; }
  virtual Task<Result<DeleteResult>> remove(RequestContext& context, std::string name, DeleteOptions options) = 0;
};
class CollectionDeleter {
 public:
  virtual ~CollectionDeleter();
  // False: the resource has the role, and does not offer it (KindFacts::deletes_collections).
  virtual bool deletes_collections() const { return true; }
  // Returns the list of what was deleted.
  virtual Task<Result<ListResult>> remove_collection(RequestContext& context, DeleteOptions options, ListOptions list) = 0;
};

// Raw HTTP below a subresource (proxy, exec, log).
class Connecter {
 public:
  virtual ~Connecter();
  virtual std::vector<std::string> connect_methods() const = 0;
  virtual Task<void> connect(RequestContext& context, std::string name, Exchange& exchange) = 0;
};

// ---- what the host makes out of a Strategy

// The part of a StandardStorage that only the host uses.  Defined by the host.
class HostStore;

// All roles of an ordinary resource; made by Host::make_storage.
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
  // The store of Host::make_storage that holds the objects; a storage in front of another one forwards the call.  Null: the objects are
  // held elsewhere, and cannot join a transaction or have subresources of Host::make_subresource.
  virtual HostStore* host_store() noexcept { return nullptr; }
  // A transaction around no object, for background work: commits what `write` joins, and calls join() again when the transaction was lost
  // to another write.  False: join() returned false.  finish() is not called. Errors: those of join() and of the commit; kInternalError if
  // host_store() is null.
  virtual Task<Result<bool>> transact(RequestContext& context, BegunWrite& write);
  const HostStore* host_store() const noexcept { return const_cast<StandardStorage*>(this)->host_store(); }
};

// A subresource that reads and updates the objects of another storage: /status, /scale, /approval.
class SubresourceStorage : public RestStorage, public Scoper, public Getter, public Updater {
 public:
  ~SubresourceStorage() override;
  // How objects are shown as a table; null: they are not, and a request for a Table alone gets 406.
  virtual const TableConvertor* subresource_table() const noexcept = 0;
};

// A resource as one version serves it.  A kind may have several versions over one storage: one of them is stored, and is made first, from a
// config without `stored_kind`; each other one names it and is a view: the same objects, converted on their way in and out, on every verb.
//
// A write through a view: `strategy` of the view (defaults, preparation, rules) on the view's form, admission on it too, conversion, and
// then the stored version's strategy on the stored form, as for every write.
struct ResourceConfig {
  GroupVersionKind kind;
  // The version that is stored under `storage_prefix`, when it is not this one.  Its storage may be another plugin's (require that one).
  GroupVersionKind stored_kind;
  // Between `kind` and `stored_kind`; null: the functions that this plugin has given the Scheme, in both directions.
  std::shared_ptr<const ObjectConverter> converter;
  // The version that the objects' bytes are of in a store that other servers may share (one whose form is not JSON), where it is another:
  // no version that is served, but one that functions of the Scheme convert to and from.  Discovery's hash is of it.
  GroupVersionKind written_as;
  bool stored_as_json = false;  // in every store, although the kind has a protobuf form
  std::string resource;         // plural, lower case
  std::string singular;         // empty: lower-case kind
  std::vector<std::string> short_names;
  std::vector<std::string> categories;
  const Schema* schema = nullptr;
  std::shared_ptr<const SchemaSet> schemas;  // keeps `schema` alive
  // Of a view: what it has to say about its own form, beyond what the stored version's strategy says; may be null.  Its facts are not asked
  // for; without columns of its own, it shows those of the stored version.
  std::shared_ptr<const Strategy> strategy;
  // Around every write of the resource; null: none.
  std::shared_ptr<const StoreHooks> hooks;
  // Objects vanish so long after they were last written (events); 0: they stay.
  std::chrono::seconds time_to_live{0};
  // Keys are "/registry/" + storage_prefix + "/" [namespace "/"] name; empty: the plural (custom resources: group/plural, see upstream's
  // layout).
  std::string storage_prefix;
  std::string list_kind;  // empty: the kind + "List"
  // Sent as a Warning with every answer of the resource ("v1 Thing is deprecated in v1.30+; use …"); empty: none.
  std::string deprecation_warning;
};

}  // namespace BACKPLANE_API
