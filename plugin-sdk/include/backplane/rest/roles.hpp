// The roles of a storage: one interface per verb (k8s.io/apiserver/pkg/registry/rest). A storage implements the roles that it supports.
// The host determines them once, when the storage is installed, and builds its route table and discovery from them.
//
// Thread-safety: every method may be called from any executor at any time.
// Lifetime:      storages are shared with the host and outlive every request that uses them.
// Errors:        a Status with group, resource and name set, which is sent to the client unchanged.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/core/object.hpp"
#include "backplane/core/options.hpp"
#include "backplane/core/status.hpp"
#include "backplane/core/task.hpp"
#include "backplane/core/visibility.hpp"
#include "backplane/rest/results.hpp"

namespace backplane BACKPLANE_API {

class Exchange;
class RequestContext;
class Schema;
class TableConvertor;
class UpdatedObjectInfo;

// The base of every storage.
class RestStorage {
 public:
  virtual ~RestStorage();
  // Kind of the objects that this storage accepts and returns. A subresource may use a kind of another group (autoscaling/v1 Scale).
  virtual GroupVersionKind kind() const = 0;
  // Schema of these objects; null only for storages without request and response objects (proxy, exec).
  virtual const Schema* schema() const = 0;
  // True: the storage calls admission itself, inside its retry loop, as every storage of Host::make_storage does. False: the endpoint
  // calls admission before it calls the storage.
  virtual bool admits_writes() const noexcept { return false; }
  // The text of a Warning header of every response of the resource; empty: no such header.
  virtual std::string deprecation_warning() const { return {}; }
};

// Returns the storage as an object of the interface `Role`; null if it does not implement `Role`. The host calls it at installation and
// stores the result.
template <class Role>
Role* role_of(RestStorage* storage) noexcept {
  return dynamic_cast<Role*>(storage);  // the cost of the cast does not matter at installation
}
template <class Role>
Role* role_of(const std::shared_ptr<RestStorage>& storage) noexcept {
  return role_of<Role>(storage.get());
}

// Like role_of(), and shares ownership of the storage.
template <class Role>
std::shared_ptr<Role> shared_role_of(std::shared_ptr<RestStorage> storage) noexcept {
  Role* const role = role_of<Role>(storage.get());
  return role != nullptr ? std::shared_ptr<Role>(std::move(storage), role) : nullptr;
}

// Required of every resource: whether its objects belong to a namespace.
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
// The version in which objects are stored. If the storage does not implement this role, discovery has no storageVersionHash.
class StorageVersionProvider {
 public:
  virtual ~StorageVersionProvider();
  virtual GroupVersionKind storage_version() const = 0;  // hashed into discovery's storageVersionHash
};
// The rows for clients that accept a Table. If the storage does not implement this role, the columns are Name and Created At.
class TableProvider {
 public:
  virtual ~TableProvider();
  virtual const TableConvertor& table_convertor() const = 0;
};

// The values of an object's fields, for field selectors.
class FieldReader {
 public:
  virtual ~FieldReader();
  // Returns the value of a selectable field ("status.phase") of an object that this storage has returned, without parsing the object. Empty
  // if the object does not have the field; nullopt if the storage has no field label `label`. The view is valid as long as the object.
  virtual std::optional<std::string_view> field(const ObjectEntry& object, std::string_view label) const = 0;
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
// WATCH of a collection, or of one object with the field selector metadata.name.
class Watcher {
 public:
  virtual ~Watcher();
  // Errors: kExpired if the history after options.resource_version is compacted.
  virtual Task<Result<std::unique_ptr<WatchStream>>> watch(RequestContext& context, ListOptions options) = 0;
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
  // POST /resource/name/subresource. Returns the object, or a Status (pods/binding). The endpoint sends the result with 201.
  virtual Task<Result<ObjectRef>> create_named(RequestContext& context, std::string name, Object& object, WriteOptions options) = 0;
};

// The validating step of admission for one create.
class CreateValidation {
 public:
  virtual ~CreateValidation();
  // `object`: the object with which create_validated() was called. Errors: those of the admission plugins.
  virtual Task<Status> validate(const Object& object) = 0;
};
// POST to a storage without admits_writes() that checks the object before the validating step of admission. The storage also has the role
// Creater or NamedCreater; create() and create_named() run no validating step. For a storage without the role ValidatedCreater, the
// endpoint runs the validating step before it calls the storage.
class ValidatedCreater {
 public:
  virtual ~ValidatedCreater();
  // `name`: the name in the URL, or that of the object. Calls `validation` once: after the checks that may refuse the object, and before
  // any effect.
  virtual Task<Result<ObjectRef>> create_validated(RequestContext& context, std::string name, Object& object, WriteOptions options,
                                                   CreateValidation& validation) = 0;
};

// PUT; PATCH too if the storage also has the role Getter.
class Updater {
 public:
  virtual ~Updater();
  // `force_allow_create`: create the object if it does not exist, as server-side apply does.
  // Errors: kNotFound; kConflict if the resourceVersion is stale or another precondition fails; kInvalid.
  virtual Task<Result<UpdateResult>> update(RequestContext& context, std::string name, UpdatedObjectInfo& info, WriteOptions options,
                                            bool force_allow_create) = 0;
};
// Disables PATCH for a storage that has the roles Getter and Updater.
class PatchForbidder {
 public:
  virtual ~PatchForbidder();
};

// DELETE of one object.
class GracefulDeleter {
 public:
  virtual ~GracefulDeleter();
  // True if a delete returns the object (upstream: ReturnDeletedObject), false if it returns a Status. OpenAPI documents it.
  virtual bool returns_deleted() const noexcept { return false; }
  // Errors: kNotFound; kConflict if a precondition fails.
  virtual Task<Result<DeleteResult>> remove(RequestContext& context, std::string name, DeleteOptions options) = 0;
};
// DELETE of a collection.
class CollectionDeleter {
 public:
  virtual ~CollectionDeleter();
  // False if the resource does not support the verb although its storage has this role (KindFacts::deletes_collections).
  virtual bool deletes_collections() const { return true; }
  // Returns the list of the deleted objects.
  virtual Task<Result<ListResult>> remove_collection(RequestContext& context, DeleteOptions options, ListOptions list) = 0;
};

// Raw HTTP for a subresource (proxy, exec, log). rest/connect.hpp declares subresources with options.
class Connecter {
 public:
  virtual ~Connecter();
  // HTTP methods in upper case.
  virtual std::vector<std::string> connect_methods() const = 0;
  // Sends the whole response.
  virtual Task<void> connect(RequestContext& context, std::string name, Exchange& exchange) = 0;
};

}  // namespace BACKPLANE_API
