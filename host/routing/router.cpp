#include "routing/router.hpp"

#include <algorithm>
#include <set>

#include "endpoints/resource_handler.hpp"
#include "routing/discovery.hpp"
#include "routing/log.hpp"
#include "routing/openapi.hpp"
#include "routing/root_handlers.hpp"
#include "routing/route_table.hpp"

namespace backplane {
namespace {

Status no_such_resource() {
  Status status(Reason::kNotFound, "the server could not find the requested resource");
  status.with_details({});
  return status;
}

template <class Items, class Name>
Array names_of(const Items& items, Name name) {
  Array out;
  for (const auto& item : items) out.emplace_back(name(item));
  return out;
}

// notfoundhandler: while paths are still being installed a client is told to come back, later the plain text of net/http.
Task<void> path_not_found(RequestContext& context, Exchange& exchange) {
  // As it was when the request came: what is published meanwhile may not be in the table that was asked.
  if (context.mux_incomplete) {
    Status status = service_unavailable("the request has been made before all known HTTP paths have been installed, please try again");
    StatusDetails details;
    details.retry_after_seconds = 5;
    status.with_details(std::move(details));
    co_await write_status(context, exchange, status);
    co_return;
  }
  exchange.set_response_header("X-Content-Type-Options", "nosniff");
  std::vector<SharedBytes> body;
  body.push_back(SharedBytes::from_static("404 page not found\n"));
  co_await exchange.respond(404, "text/plain; charset=utf-8", std::move(body));
}

// The path goes through a namespace to get to the resource: /namespaces/NS/RESOURCE, and not /namespaces/NS alone.
bool within_namespace(const RequestInfo& info) {
  if (info.ns.empty()) return false;
  return info.resource != "namespaces" || info.path.find("/namespaces/" + info.ns + "/namespaces") != std::string::npos;
}

// A built-in resource has one route per path of its own.
bool routes_built_in(const ResourceRow& row, const RequestInfo& info) {
  if (info.verb == "proxy") return false;
  const std::size_t parts = info.subresource.empty() ? 2 : 3;
  if (info.parts.size() > parts && !row.takes_path) return false;
  if (!row.namespaced) return !within_namespace(info);
  return !info.ns.empty() || info.parts.size() == 1;
}

// A custom resource is one handler that looks at the scope alone: only lists and watches go over all namespaces.
bool routes_published(const ResourceRow& row, const RequestInfo& info) {
  if (row.namespaced == !info.ns.empty()) return true;
  return row.namespaced && (info.verb == "list" || info.verb == "watch");
}

// The row of a resource request, or null where upstream has no route.
const ResourceRow* find_row(const VersionTable& version, const RequestInfo& info) {
  std::string path = info.resource;
  if (!info.subresource.empty()) path.append("/").append(info.subresource);
  auto it = version.rows.find(path);
  if (it == version.rows.end()) return nullptr;
  const bool routed = version.dynamic ? routes_published(it->second, info) : routes_built_in(it->second, info);
  return routed ? &it->second : nullptr;
}

// A custom resource that is served, asked for a subresource that it has not got: its objects have none of that name.
bool lacks_subresource(const VersionTable& version, const RequestInfo& info) {
  if (!version.dynamic || info.subresource.empty()) return false;
  const auto resource = version.rows.find(info.resource);
  return resource != version.rows.end() && routes_published(resource->second, info);
}

bool is_below(std::string_view path, std::string_view root) {
  return path.starts_with(root) && (path.size() == root.size() || path[root.size()] == '/');
}

// Whether upstream has a go-restful service for the beginning of the path, which answers what it has no route for by itself.
bool below_known_root(const RouteTable& routes, std::string_view path) {
  if (is_below(path, "/version")) return true;
  if (is_below(path, "/api")) return routes.core != nullptr;
  constexpr std::string_view kGroups = "/apis/";
  if (!path.starts_with(kGroups)) return false;
  path.remove_prefix(kGroups.size());
  const auto group = routes.by_group.find(std::string(path.substr(0, path.find('/'))));
  return group != routes.by_group.end() && !group->second->name.empty() && !group->second->dynamic;
}

std::shared_ptr<HttpHandler> find_path(const RouteTable& routes, std::string path) {
  auto exact = routes.exact.find(path);
  if (exact == routes.exact.end() && path.size() > 1 && path.back() == '/' && root_path_allows_slash(path)) {
    path.pop_back();
    exact = routes.exact.find(path);
  }
  if (exact != routes.exact.end()) return exact->second.route.handler;
  for (const PathRow& row : routes.prefixes) {
    const std::string& prefix = row.route.path;
    if (is_below(path, prefix) || (prefix.back() == '/' && path.starts_with(prefix))) return row.route.handler;
  }
  return nullptr;
}

GroupEntry& entry_of(RouteTable& routes, const std::string& group) {
  if (group.empty()) {
    if (!routes.core) routes.core = std::make_shared<GroupEntry>();
    return *routes.core;
  }
  auto it = std::find_if(routes.groups.begin(), routes.groups.end(), [&](const GroupEntry& each) { return each.name == group; });
  if (it == routes.groups.end()) it = routes.groups.insert(routes.groups.end(), GroupEntry{});
  it->name = group;
  return *it;
}

using Storages = std::map<std::string, std::shared_ptr<RestStorage>>;

Storages enabled_storages(const ApiEnablement& enablement, const GroupVersion& version, const Storages& storages) {
  Storages enabled;
  for (const auto& [path, storage] : storages) {
    if (enablement.resource_enabled({version.group, version.version, path})) enabled.emplace(path, storage);
  }
  return enabled;
}

bool higher(const GroupEntry& a, const GroupEntry& b) { return a.priority != b.priority ? a.priority > b.priority : a.name < b.name; }

}  // namespace

Router::Router(RouterConfig config)
    : config_(std::move(config)), watches_(std::make_shared<OpenWatches>()), table_(std::make_shared<const RouteTable>()) {
  if (config_.shutting_down) watches_->end_all_on(*config_.shutting_down);
}
Router::~Router() = default;

std::shared_ptr<const RouteTable> Router::table() const { return table_.load(std::memory_order_acquire); }

Task<void> Router::handle(RequestContext& context, Exchange& exchange) {
  auto routes = table();
  const RequestInfo& info = context.info;
  // "/apis//v1/pods" names no group, and not the one of "/api/v1".
  const bool grouped = info.api_group.empty() == (info.api_prefix == "api");
  const VersionTable* version = info.is_resource_request && grouped ? routes->find(info.api_group, info.api_version) : nullptr;
  if (version != nullptr) {
    if (const ResourceRow* row = find_row(*version, info)) {
      co_await row->handler->handle(context, exchange);
      co_return;
    }
    if (lacks_subresource(*version, info)) {
      const Status status = not_found(info.api_group, info.resource, info.name);
      co_await write_status(context, exchange, status);
      co_return;
    }
  }
  std::shared_ptr<HttpHandler> handler = published_paths_.find(info.path);
  if (!handler) handler = find_path(*routes, info.path);
  if (handler) {
    co_await handler->handle(context, exchange);
  } else if (below_known_root(*routes, info.path)) {
    const Status status = no_such_resource();
    co_await write_status(context, exchange, status);
  } else {
    co_await path_not_found(context, exchange);
  }
}

Status Router::compose(std::vector<DelegationTarget> chain, std::vector<PathRoute> host_paths) {
  std::lock_guard lock(mutex_);
  chain_ = std::move(chain);
  host_paths_ = std::move(host_paths);
  return rebuild();
}

Status Router::publish(std::string_view delegate, std::vector<APIGroupInfo> groups) {
  std::vector<std::function<void()>> callbacks;
  {
    std::lock_guard lock(mutex_);
    auto before = published_[std::string(delegate)];
    published_[std::string(delegate)] = std::move(groups);
    Status status = rebuild();
    if (!status.ok()) {
      published_[std::string(delegate)] = std::move(before);
      return status;
    }
    callbacks = callbacks_;
  }
  for (const auto& callback : callbacks) callback();
  return {};
}

Status Router::publish_path(const std::string& delegate, PathRoute route) {
  std::lock_guard lock(mutex_);
  const auto routes = table();
  const auto exact = routes->exact.find(route.path);
  const auto prefix =
      std::find_if(routes->prefixes.begin(), routes->prefixes.end(), [&](const PathRow& row) { return row.route.path == route.path; });
  if (exact != routes->exact.end()) return path_taken(route.path, exact->second.registrant);
  if (prefix != routes->prefixes.end()) return path_taken(route.path, prefix->registrant);
  return published_paths_.publish(delegate, std::move(route));
}

Status Router::withdraw_path(const std::string& delegate, const std::string& path) { return published_paths_.withdraw(delegate, path); }

std::vector<GroupVersionInfo> Router::group_versions() const {
  std::vector<GroupVersionInfo> out;
  auto routes = table();
  auto add = [&](const GroupEntry& group) {
    int priority = static_cast<int>(group.versions.size());
    for (const auto& version : group.versions)
      out.push_back({version->version, group.priority, version->version_priority + --priority, version->delegate});
  };
  if (routes->core) add(*routes->core);
  for (const auto& group : routes->groups) add(group);
  return out;
}

std::shared_ptr<RestStorage> Router::find_storage(const GroupVersionResource& resource) const {
  const auto rows = table();
  const VersionTable* version = rows ? rows->find(resource.group, resource.version) : nullptr;
  if (version == nullptr) return nullptr;
  const auto row = version->rows.find(resource.resource);
  return row == version->rows.end() ? nullptr : row->second.storage;
}

void Router::on_group_versions_changed(std::function<void()> callback) {
  std::lock_guard lock(mutex_);
  callbacks_.push_back(std::move(callback));
}

Status Router::add_group_rows(RouteTable& routes, const DelegationTarget& target, const APIGroupInfo& group, bool published) const {
  auto previous = table();
  GroupEntry& entry = entry_of(routes, group.group);
  entry.priority = std::max(entry.priority, group.group_priority_minimum);
  entry.of_front = !published && &target == &chain_.front();
  entry.dynamic = published && (entry.versions.empty() || entry.dynamic);
  for (const auto& version : group.prioritized_versions) {
    auto storages = group.storages.find(version);
    if (storages == group.storages.end()) continue;
    // --runtime-config is about what the server brings along; what is published at run time was asked for.
    const Storages enabled = published ? storages->second : enabled_storages(config_.enablement, {group.group, version}, storages->second);
    if (enabled.empty()) {
      routing_log().info("skipping API {}/{}: no resource of it is enabled", group.group, version);
      continue;
    }
    const std::string key = group.group + "/" + version;
    if (auto other = routes.versions.find(key); other != routes.versions.end()) {
      return Status(Reason::kAlreadyExists, "group version " + key + " is served by plugin " + quoted(other->second->delegate) +
                                                " already; plugin " + quoted(target.name) + " cannot serve it too");
    }
    auto schemas = group.schemas.find(version);
    auto schema_set = schemas == group.schemas.end() ? nullptr : schemas->second;
    std::shared_ptr<const VersionTable> rows = reuse_version_table(*previous, key, enabled, schema_set);
    if (!rows) {
      auto made = make_version_table({group.group, version}, target.name, enabled, schema_set,
                                     handler_factory(config_, scheme_.get(), watches_, published), published);
      made->version_priority = group.version_priority;
      rows = std::move(made);
    }
    entry.versions.push_back(rows);
    routes.versions.emplace(key, std::move(rows));
  }
  return {};
}

Status Router::rebuild() {
  auto routes = std::make_shared<RouteTable>();
  for (const auto& route : host_paths_) {
    Status status = add_path(*routes, route, "backplane");
    if (!status.ok()) return status;
  }
  for (const auto& target : chain_) {
    for (const auto& route : target.paths) {
      Status status = add_path(*routes, route, target.name);
      if (!status.ok()) return status;
    }
    for (const auto& group : target.groups) {
      Status status = add_group_rows(*routes, target, group, /*published=*/false);
      if (!status.ok()) return status;
    }
    auto published = published_.find(target.name);
    if (published == published_.end()) continue;
    for (const auto& group : published->second) {
      Status status = add_group_rows(*routes, target, group, /*published=*/true);
      if (!status.ok()) return status;
    }
  }
  std::erase_if(routes->groups, [](const GroupEntry& group) { return group.versions.empty(); });
  if (routes->core && routes->core->versions.empty()) routes->core.reset();
  std::stable_sort(routes->groups.begin(), routes->groups.end(), higher);
  for (const auto& group : routes->groups) routes->by_group.emplace(group.name, &group);
  if (routes->core) routes->by_group.emplace("", routes->core.get());
  std::stable_sort(routes->prefixes.begin(), routes->prefixes.end(),
                   [](const PathRow& a, const PathRow& b) { return a.route.path.size() > b.route.path.size(); });
  add_root_paths(
      *routes, config_, [this] { return chain_json(); }, [this] { return published_paths_.listed(); });
  table_.store(std::move(routes), std::memory_order_release);
  return {};
}

std::string Router::chain_json() const {
  std::lock_guard lock(mutex_);
  return chain_json_locked();
}

std::string Router::chain_json_locked() const {
  Array delegates;
  for (const auto& target : chain_) {
    Object delegate;
    delegate["name"] = target.name;
    Array served;
    auto add = [&](const std::vector<APIGroupInfo>& groups) {
      for (const auto& group : groups) {
        for (const auto& version : group.prioritized_versions) served.emplace_back(GroupVersion{group.group, version}.to_string());
      }
    };
    add(target.groups);
    if (auto it = published_.find(target.name); it != published_.end()) add(it->second);
    delegate["groupVersions"] = std::move(served);
    Array paths;
    for (const auto& route : target.paths) paths.emplace_back(route.path);
    delegate["paths"] = std::move(paths);
    delegate["postStartHooks"] = names_of(target.post_start_hooks, [](const auto& hook) { return hook.name; });
    delegate["preShutdownHooks"] = names_of(target.pre_shutdown_hooks, [](const auto& hook) { return hook.name; });
    delegate["healthChecks"] = names_of(target.health_checks, [](const auto& entry) { return entry.check->name(); });
    Array signals;
    for (const auto& [name, signal] : target.mux_and_discovery_signals) {
      Object item;
      item["name"] = name;
      item["fired"] = signal->fired();
      signals.emplace_back(std::move(item));
    }
    delegate["muxAndDiscoverySignals"] = std::move(signals);
    delegate["publishesAtRunTime"] = target.publishes_at_run_time;
    delegates.emplace_back(std::move(delegate));
  }
  Object last;
  last["name"] = "not found";
  delegates.emplace_back(std::move(last));
  Object out;
  out["chain"] = std::move(delegates);
  return to_json(out);
}

}  // namespace backplane
