// The documents every server has beside its resources: index, discovery, version, OpenAPI, the live chain.
//
// Thread-safety: handlers hold the table they were made for and are immutable.
// Lifetime:      a handler points to the table that owns it.
#pragma once

#include <string>

#include "routing/route_table.hpp"
#include "routing/router.hpp"

namespace backplane {

// Adds "/", "/api", "/apis", each group and version, "/version", "/openapi/…" and "/debug/chain" to `routes`, whose groups are complete.
// `published_paths`: what GET / shows beside the table's own.
void add_root_paths(RouteTable& routes, const RouterConfig& config, std::function<std::string()> chain_json,
                    std::function<std::vector<std::string>()> published_paths);
// Discovery documents are found with a slash at the end too; health checks are not.
bool root_path_allows_slash(std::string_view path);

Status add_path(RouteTable& routes, const PathRoute& route, const std::string& registrant);
// `published`: for resources that came at run time.
HandlerFactory handler_factory(const RouterConfig& config, const Scheme* scheme, std::shared_ptr<OpenWatches> watches, bool published);
// The table of `key` in `previous` when it has the same storages and types, else null.
std::shared_ptr<const VersionTable> reuse_version_table(const RouteTable& previous, const std::string& key,
                                                        const std::map<std::string, std::shared_ptr<RestStorage>>& storages,
                                                        const std::shared_ptr<const SchemaSet>& schemas);

}  // namespace backplane
