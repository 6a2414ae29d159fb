// The facts about one resource that the verbs need, computed once when its handler is made.
//
// Thread-safety: never changes after construction.
// Lifetime:      lives as long as its handler; borrows from the storage it holds.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/rest/connect.hpp"
#include "endpoints/body_sizes.hpp"
#include "endpoints/negotiation.hpp"
#include "endpoints/open_watches.hpp"
#include "endpoints/resource_handler.hpp"
#include "registry/fields/field_manager.hpp"

namespace backplane::endpoints {

struct Resource {
  explicit Resource(ResourceScope given);
  Resource(const Resource&) = delete;
  Resource& operator=(const Resource&) = delete;

  // The namespace of a request on this resource; empty for cluster-scoped ones.
  std::string_view namespace_of(const RequestContext& context) const noexcept {
    return scope.namespaced ? std::string_view(context.info.ns) : std::string_view();
  }
  // The type of the object, or of its list, as Go's %T prints it, for error texts.
  std::string go_type(bool list) const;
  // The package that holds the internal Go type of a group ("core", "apps"), which some texts show.
  static std::string internal_package(std::string_view group);

  ResourceScope scope;
  const Schema* schema = nullptr;
  Offers offers;
  // Custom resources have sorted keys, and other encodings of lists and other error texts.
  bool custom = false;
  std::string api_version;  // "apps/v1"
  std::string list_kind;
  const TableConvertor* table = nullptr;
  std::vector<std::string> connect_methods;
  // Sets metadata.managedFields of objects that are not stored (reviews, tokens); null: the store sets it.
  std::unique_ptr<const registry::FieldManager> fields;
  // Runs admission of creates, updates and deletes; null: the storage runs it itself (RestStorage::admits_writes), or there is none.
  AdmissionRunner* admission = nullptr;
  std::unique_ptr<BodySizes> body_sizes = std::make_unique<BodySizes>();
  std::shared_ptr<OpenWatches> watches;  // null if watches need not end early

  // Roles of the storage; null: the storage does not have the role.
  Getter* getter = nullptr;
  Lister* lister = nullptr;
  Watcher* watcher = nullptr;
  Creater* creater = nullptr;
  NamedCreater* named_creater = nullptr;
  ValidatedCreater* validated_creater = nullptr;
  Updater* updater = nullptr;
  Updater* patcher = nullptr;  // the updater of a storage that can also be read and accepts patches
  GracefulDeleter* deleter = nullptr;
  CollectionDeleter* collection_deleter = nullptr;
  Connecter* connecter = nullptr;
  OptionConnecter* option_connecter = nullptr;  // the connecter, if it has options
  StreamGetter* stream_getter = nullptr;
};

}  // namespace backplane::endpoints
