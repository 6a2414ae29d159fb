// The immutable route table: the rows of the served resources, and the documents (discovery, OpenAPI) that describe them. A change makes a
// new table that shares unchanged groups, versions and rows with the old table.
//
// Thread-safety: immutable, except for the documents, which are generated at first use.
// Lifetime:      requests for documents share tables, groups and versions. A request for a resource keeps only the handler alive.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "backplane/host.hpp"
#include "backplane/points/http.hpp"
#include "backplane/rest/roles.hpp"
#include "backplane/types/api_lifecycle.hpp"
#include "backplane/types/schema.hpp"
#include "routing/delegation.hpp"
#include "routing/lazy_document.hpp"
#include "routing/persistent_map.hpp"

namespace backplane {

// The row of a resource or subresource.
struct ResourceRow {
  std::string resource;     // "deployments"
  std::string subresource;  // "" or "scale"
  bool namespaced = true;
  bool connects = false;    // the storage is a Connecter
  bool takes_path = false;  // the path may continue after the subresource
  GroupVersionKind kind;
  std::shared_ptr<RestStorage> storage;
  std::shared_ptr<HttpHandler> handler;
  std::vector<std::string> verbs;  // as listed by discovery
  std::shared_ptr<const SchemaSet> schemas;
  std::string identity;  // PublishedResource::identity
};
using RowRef = std::shared_ptr<const ResourceRow>;
// Maps "deployments" or "deployments/scale" to its row.
using Rows = PersistentMap<RowRef>;

// The resources of one group version.
struct VersionTable {
  GroupVersion version;
  std::string delegate;
  int group_priority = 0;
  int version_priority = 15;
  bool dynamic = false;  // published at run time: custom resources, or a forwarded version
  bool openapi_enums = true;
  bool openapi_cbor = false;
  ApiRelease emulation = kApiRelease;  // the release in the title of the OpenAPI document
  Rows rows;
  // If not null, another server serves the version. `forward` handles every request below the version's path, and `rows` is empty.
  std::shared_ptr<HttpHandler> forward;
  std::shared_ptr<const ForwardedDocuments> forwarded_documents;  // null: no document is known
  std::shared_ptr<const VersionTable> local;  // the version of this server that `forward` hides; null: this server does not serve it
  LazyDocument openapi_v3;
};
using VersionRef = std::shared_ptr<const VersionTable>;

struct GroupEntry {
  std::string name;
  int priority = 0;
  bool dynamic = false;  // all versions were published at run time; unknown paths of the group get 404 in plain text
  // the group belongs to the first delegate, which also responds for the groups of the other delegates
  bool answers_for_all_delegates = false;
  std::vector<VersionRef> versions;  // the preferred version is the first

  // Returns the version; null if the group does not have it.
  const VersionTable* find(std::string_view version) const noexcept;
  // Returns the group's item in aggregated discovery. It is generated at first use.
  const std::string& aggregated() const;

 private:
  mutable std::once_flag aggregated_once_;
  mutable std::string aggregated_;
};
using GroupRef = std::shared_ptr<const GroupEntry>;

struct PathRow {
  PathRoute route;
  std::string registrant;
};

// The paths that do not belong to API resources. They do not change until the next Router::compose().
struct FixedPaths {
  std::unordered_map<std::string, PathRow> exact;
  std::vector<PathRow> prefixes;  // sorted by length, the longest first

  // Errors: kAlreadyExists; the message names the plugin that has the path.
  Status add(const PathRoute& route, const std::string& registrant);
};

struct RouteTable {
  std::shared_ptr<const FixedPaths> paths = std::make_shared<const FixedPaths>();
  PersistentMap<GroupRef> groups;  // by name; the name of the core group is empty
  bool openapi_enums = true;       // OpenAPI documents list the enum values of built-in fields
  bool openapi_cbor = false;       // OpenAPI documents list CBOR as media type
  ApiRelease emulation = kApiRelease;
  LazyDocument aggregated_apis, aggregated_api, aggregated_apis_proto, aggregated_api_proto, openapi_v2, openapi_v2_proto, openapi_v3_index;

  RouteTable() = default;
  // Copies the routes. The new table generates its documents again.
  RouteTable(const RouteTable& other)
      : paths(other.paths),
        groups(other.groups),
        openapi_enums(other.openapi_enums),
        openapi_cbor(other.openapi_cbor),
        emulation(other.emulation) {}
  RouteTable& operator=(const RouteTable&) = delete;

  const GroupEntry* group(std::string_view name) const noexcept;
  const VersionTable* find(std::string_view group, std::string_view version) const noexcept;
  // Like find(), but returns a shared pointer.
  VersionRef find_shared(std::string_view group, std::string_view version) const noexcept;
  // Returns the groups in the order of /apis, without the core group.
  std::vector<const GroupEntry*> named_groups() const;
  // Returns the versions of all groups. The core group is the first.
  std::vector<const VersionTable*> versions() const;
};
using TableRef = std::shared_ptr<const RouteTable>;

// Returns the handler of a row.
using HandlerFactory = std::function<std::shared_ptr<HttpHandler>(const ResourceRow& row, const GroupVersion& version)>;
using Storages = std::map<std::string, std::shared_ptr<RestStorage>>;
// Returns `rows` with a row for each storage. A row replaces the row that has the same path.
Rows with_rows(Rows rows, const GroupVersion& version, const Storages& storages, const std::shared_ptr<const SchemaSet>& schemas,
               const std::string& identity, const HandlerFactory& handler_of, bool dynamic);
// Returns `rows` without the rows of the resource and its subresources.
Rows without_resource(Rows rows, const std::string& resource);

}  // namespace backplane
