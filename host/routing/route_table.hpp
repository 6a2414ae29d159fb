// The immutable route table: what one lookup finds, and the documents (discovery, OpenAPI) that describe it.
//
// Thread-safety: immutable after it is published, but for the documents, which are made once, at first use, under their own lock.
// Lifetime:      shared by the requests that use it; version tables are reused from table to table while their storages stay the same.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "backplane/host.hpp"
#include "routing/delegation.hpp"

namespace backplane {

// One resource or subresource.
struct ResourceRow {
  std::string resource;     // "deployments"
  std::string subresource;  // "" or "scale"
  bool namespaced = true;
  bool takes_path = false;  // a Connecter: anything may follow the subresource
  GroupVersionKind kind;
  std::shared_ptr<RestStorage> storage;
  std::shared_ptr<HttpHandler> handler;
  std::vector<std::string> verbs;  // for discovery
};

// A document that is made when somebody asks and then kept as bytes.
class LazyDocument {
 public:
  struct Made {
    SharedBytes bytes;
    std::string hash;  // upper-case hex SHA-512
  };
  const Made& get(const std::function<std::string()>& make) const;

 private:
  mutable std::once_flag once_;
  mutable Made made_;
};

// Everything one group version serves.
struct VersionTable {
  GroupVersion version;
  std::string delegate;
  int version_priority = 15;
  bool dynamic = false;  // published at run time
  // "deployments" or "deployments/scale" → row, in path order.
  std::map<std::string, ResourceRow, std::less<>> rows;
  std::shared_ptr<const SchemaSet> schemas;
  LazyDocument openapi_v3;
};

struct GroupEntry {
  std::string name;
  int priority = 0;
  bool dynamic = false;                                       // published at run time alone: what is unknown in it is a plain 404
  bool of_front = false;                                      // the foremost delegate's own; it answers for the groups of all others
  std::vector<std::shared_ptr<const VersionTable>> versions;  // preferred first
};

struct PathRow {
  PathRoute route;
  std::string registrant;
};

struct RouteTable {
  std::vector<GroupEntry> groups;  // in the order of /apis; the core group is not in here
  std::shared_ptr<GroupEntry> core;
  std::unordered_map<std::string, std::shared_ptr<const VersionTable>> versions;  // "apps/v1", "/v1"
  std::unordered_map<std::string, const GroupEntry*> by_group;
  std::unordered_map<std::string, PathRow> exact;
  std::vector<PathRow> prefixes;  // longest first
  LazyDocument aggregated_apis, aggregated_api, openapi_v2, openapi_v2_proto, openapi_v3_index;

  const VersionTable* find(const std::string& group, const std::string& version) const;
};

// The rows of one group version; `scope_of` makes the handler of each.
using HandlerFactory = std::function<std::shared_ptr<HttpHandler>(const ResourceRow& row, const GroupVersion& version)>;
std::shared_ptr<VersionTable> make_version_table(const GroupVersion& version, const std::string& delegate,
                                                 const std::map<std::string, std::shared_ptr<RestStorage>>& storages,
                                                 std::shared_ptr<const SchemaSet> schemas, const HandlerFactory& handler_of, bool dynamic);

}  // namespace backplane
