// The immutable route table: the rows that lookups find, and the documents (discovery, OpenAPI) that describe them.
// A change makes a new table that shares unchanged groups, versions and rows with the old one.
//
// Thread-safety: immutable, except for the documents, which are made at first use.
// Lifetime:      tables, groups and versions are shared by the requests that describe them; a request on a resource holds only its handler.
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

// One resource or subresource.
struct ResourceRow {
  std::string resource;     // "deployments"
  std::string subresource;  // "" or "scale"
  bool namespaced = true;
  bool connects = false;    // a Connecter
  bool takes_path = false;  // the path may continue after the subresource
  GroupVersionKind kind;
  std::shared_ptr<RestStorage> storage;
  std::shared_ptr<HttpHandler> handler;
  std::vector<std::string> verbs;  // for discovery
  std::shared_ptr<const SchemaSet> schemas;
  std::string identity;  // PublishedResource::identity
};
using RowRef = std::shared_ptr<const ResourceRow>;
// "deployments" or "deployments/scale" → row.
using Rows = PersistentMap<RowRef>;

// Everything one group version serves.
struct VersionTable {
  GroupVersion version;
  std::string delegate;
  int group_priority = 0;
  int version_priority = 15;
  bool dynamic = false;  // published at run time
  bool openapi_enums = true;
  bool openapi_cbor = false;
  ApiRelease emulation = kApiRelease;  // the release in the title of the OpenAPI document
  Rows rows;
  // Not null: another server serves the version, and `forward` handles every request below its path; `rows` is empty.
  std::shared_ptr<HttpHandler> forward;
  std::shared_ptr<const ForwardedDocuments> forwarded_documents;  // null: none are known
  std::shared_ptr<const VersionTable> local;                      // the version that `forward` takes precedence over; null: none
  LazyDocument openapi_v3;
};
using VersionRef = std::shared_ptr<const VersionTable>;

struct GroupEntry {
  std::string name;
  int priority = 0;
  bool dynamic = false;                    // has only versions that were published at run time: unknown paths get a 404 in plain text
  bool answers_for_all_delegates = false;  // the group belongs to the first delegate, which responds for the groups of all others
  std::vector<VersionRef> versions;        // preferred first

  // The version, or null.
  const VersionTable* find(std::string_view version) const noexcept;
  // The group's item of aggregated discovery; made at first use.
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

// Paths outside the resource tree; they stay as long as the server runs.
struct FixedPaths {
  std::unordered_map<std::string, PathRow> exact;
  std::vector<PathRow> prefixes;  // longest first

  // Errors: kAlreadyExists, naming the first.
  Status add(const PathRoute& route, const std::string& registrant);
};

struct RouteTable {
  std::shared_ptr<const FixedPaths> paths = std::make_shared<const FixedPaths>();
  PersistentMap<GroupRef> groups;  // by name; the core group's is empty
  bool openapi_enums = true;       // OpenAPI lists the values of built-in fields
  bool openapi_cbor = false;       // OpenAPI lists CBOR
  ApiRelease emulation = kApiRelease;
  LazyDocument aggregated_apis, aggregated_api, aggregated_apis_proto, aggregated_api_proto, openapi_v2, openapi_v2_proto, openapi_v3_index;

  RouteTable() = default;
  // The same routes; the documents are generated again.
  RouteTable(const RouteTable& other)
      : paths(other.paths),
        groups(other.groups),
        openapi_enums(other.openapi_enums),
        openapi_cbor(other.openapi_cbor),
        emulation(other.emulation) {}
  RouteTable& operator=(const RouteTable&) = delete;

  const GroupEntry* group(std::string_view name) const noexcept;
  const VersionTable* find(std::string_view group, std::string_view version) const noexcept;
  // The same as a shared pointer.
  VersionRef find_shared(std::string_view group, std::string_view version) const noexcept;
  // In the order of /apis, without the core group.
  std::vector<const GroupEntry*> named_groups() const;
  // The versions of all groups, core first.
  std::vector<const VersionTable*> versions() const;
};
using TableRef = std::shared_ptr<const RouteTable>;

// Makes the handler of a row.
using HandlerFactory = std::function<std::shared_ptr<HttpHandler>(const ResourceRow& row, const GroupVersion& version)>;
using Storages = std::map<std::string, std::shared_ptr<RestStorage>>;
// `rows` with a row for each storage; rows of the same paths are replaced.
Rows with_rows(Rows rows, const GroupVersion& version, const Storages& storages, const std::shared_ptr<const SchemaSet>& schemas,
               const std::string& identity, const HandlerFactory& handler_of, bool dynamic);
// `rows` without the resource and its subresources.
Rows without_resource(Rows rows, const std::string& resource);

}  // namespace backplane
