// The properties of a resource that the verbs need. They are determined once, when the handler is created.
//
// Thread-safety: immutable after construction.
// Lifetime:      a member of its handler; borrows from the storage that `scope` owns.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/rest/connect.hpp"
#include "endpoints/body_sizes.hpp"
#include "endpoints/negotiation.hpp"
#include "endpoints/open_watches.hpp"
#include "endpoints/request_refuser.hpp"
#include "endpoints/resource_handler.hpp"
#include "registry/fields/field_manager.hpp"

namespace backplane::endpoints {

struct Resource {
  explicit Resource(ResourceScope given);
  Resource(const Resource&) = delete;
  Resource& operator=(const Resource&) = delete;

  // Returns the namespace of a request for this resource; empty if the resource is cluster-scoped.
  std::string_view namespace_of(const RequestContext& context) const noexcept {
    return scope.namespaced ? std::string_view(context.info.ns) : std::string_view();
  }
  // Returns the type of the object or of its list as Go's %T prints it, for error messages.
  std::string go_type(bool list) const;
  // Returns the package of a group's internal Go types ("core", "apps"), which some messages contain.
  static std::string internal_package(std::string_view group);

  ResourceScope scope;
  const Schema* schema = nullptr;
  Offers offers;
  // True if the schema is structural, as for custom resources. Such objects have sorted keys; encodings of lists and error messages also
  // differ.
  bool custom = false;
  std::string api_version;  // "apps/v1"
  std::string list_kind;
  const TableConvertor* table = nullptr;
  std::vector<std::string> connect_methods;
  // Updates metadata.managedFields if the storage does not: for storages without RestStorage::admits_writes(), and for NamedCreaters. Null:
  // the storage does it, or supports no writes.
  std::unique_ptr<const registry::FieldManager> fields;
  // Runs admission of creates, updates and deletes. Null: the storage runs admission itself (RestStorage::admits_writes()), or the server
  // has none.
  AdmissionRunner* admission = nullptr;
  std::unique_ptr<BodySizes> body_sizes = std::make_unique<BodySizes>();
  std::shared_ptr<OpenWatches> watches;  // null: watches need not end early

  // The roles of the storage. Null: the storage does not have the role.
  Getter* getter = nullptr;
  Lister* lister = nullptr;
  Watcher* watcher = nullptr;
  Creater* creater = nullptr;
  NamedCreater* named_creater = nullptr;
  ValidatedCreater* validated_creater = nullptr;
  Updater* updater = nullptr;
  Updater* patcher = nullptr;  // the updater, if the storage is also a Getter and no PatchForbidder
  GracefulDeleter* deleter = nullptr;
  CollectionDeleter* collection_deleter = nullptr;
  Connecter* connecter = nullptr;
  OptionConnecter* option_connecter = nullptr;  // the connecter, if it is an OptionConnecter
  StreamGetter* stream_getter = nullptr;
  RequestRefuser* refuser = nullptr;
};

}  // namespace backplane::endpoints
