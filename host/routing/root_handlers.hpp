// The documents that every server has in addition to its resources: index, discovery, version, OpenAPI and the delegation chain. Also the
// responses for paths that do not exist.
//
// Thread-safety: pure functions of an immutable route table. A handler serves one request, unless its function documents otherwise.
// Lifetime:      a handler keeps the route table alive until the document has been generated.
#pragma once

#include <set>
#include <string>

#include "routing/route_table.hpp"
#include "routing/router.hpp"

namespace backplane {

// The inputs of documents that do not come from the route table.
struct DocumentContext {
  const ServerAddresses& addresses;
  const PublishedPaths& published;  // listed by GET /
  const std::shared_ptr<DocumentShelf>& shelf;
  const std::shared_ptr<PeerDocuments>& peers;  // null: the server has no peers
};
// Returns the handler of "/", "/api", "/apis", a group, a version or "/openapi/…"; null if there is no such document. For a forwarded
// version, returns the handler that forwards requests.
std::shared_ptr<HttpHandler> find_document(const TableRef& routes, const DocumentContext& context, std::string_view path);
// Returns the paths that GET / lists.
std::set<std::string> index_paths(const RouteTable& routes, const std::vector<std::string>& published);
// Adds "/version" and "/debug/chain", which do not depend on the served groups.
void add_root_paths(FixedPaths& paths, const ReportedVersion& version, std::function<std::string()> chain_json);
// Returns true for discovery documents, /version and /openapi/v3, which also exist with a slash at the end. Returns false for health
// checks.
bool root_path_allows_slash(std::string_view path);

std::shared_ptr<HttpHandler> answer_with(Status status);
// Responds with 404 and a Status. Used for paths whose beginning upstream's router knows.
std::shared_ptr<HttpHandler> no_such_resource();
// Responds with 404 as plain text, or with 503 while paths are still being installed.
std::shared_ptr<HttpHandler> no_such_page();

// `published`: the resources were published at run time. A handler serves any number of requests. `config` must outlive the factory.
HandlerFactory handler_factory(const RouterConfig& config, const kit::Published<Scheme>& scheme, std::shared_ptr<OpenWatches> watches,
                               bool published);

}  // namespace backplane
