// The documents of every server in addition to its resources: index, discovery, version, OpenAPI, the live chain; and the responses for
// paths that do not exist.
//
// Thread-safety: pure functions of an immutable table; the handlers they make are for one request each, unless documented otherwise.
// Lifetime:      a handler holds the route table until the document has been generated.
#pragma once

#include <set>
#include <string>

#include "routing/route_table.hpp"
#include "routing/router.hpp"

namespace backplane {

// Parts of documents that do not come from the routes.
struct DocumentContext {
  const ServerAddresses& addresses;
  const PublishedPaths& published;  // shown by GET /
  const std::shared_ptr<DocumentShelf>& shelf;
  const std::shared_ptr<PeerDocuments>& peers;  // null: there are none
};
// "/", "/api", "/apis", each group and version, "/openapi/…"; null: no such document.  A forwarded version's own handler for its path.
std::shared_ptr<HttpHandler> find_document(const TableRef& routes, const DocumentContext& context, std::string_view path);
// The paths that GET / lists.
std::set<std::string> index_paths(const RouteTable& routes, const std::vector<std::string>& published);
// Adds the paths that do not depend on the groups: "/version" and "/debug/chain".
void add_root_paths(FixedPaths& paths, const ReportedVersion& version, std::function<std::string()> chain_json);
// Discovery documents are found with a slash at the end too; health checks are not.
bool root_path_allows_slash(std::string_view path);

std::shared_ptr<HttpHandler> answer_with(Status status);
// 404 as a Status, for paths whose prefix upstream's router knows.
std::shared_ptr<HttpHandler> no_such_resource();
// 404 as plain text; 503 while paths are still being installed.
std::shared_ptr<HttpHandler> no_such_page();

// `published`: for resources that were published at run time. The handlers are for any number of requests; `config` outlives the factory.
HandlerFactory handler_factory(const RouterConfig& config, const kit::Published<Scheme>& scheme, std::shared_ptr<OpenWatches> watches,
                               bool published);

}  // namespace backplane
