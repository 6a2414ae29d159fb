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

// notfoundhandler: while paths are still being installed a client is told to come back, later the plain text of net/http.
template <class Items, class Name>
Array names_of(const Items& items, Name name) {
  Array out;
  for (const auto& item : items) out.emplace_back(name(item));
  return out;
}

Task<void> not_found(RequestContext& context, Exchange& exchange) {
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

// The row of a resource request, or null where upstream has no route.
const ResourceRow* find_row(const VersionTable& version, const RequestInfo& info) {
  std::string path = info.resource;
  if (!info.subresource.empty()) path.append("/").append(info.subresource);
  auto it = version.rows.find(path);
  if (it == version.rows.end()) return nullptr;
  const ResourceRow& row = it->second;
  const std::size_t parts = info.verb == "watch" && info.subresource.empty() ? 2 : info.subresource.empty() ? 2 : 3;
  if (info.parts.size() > parts && !row.takes_path) return nullptr;
  if (!row.namespaced && !info.ns.empty() && info.resource != "namespaces") return nullptr;
  if (row.namespaced && info.ns.empty() && info.parts.size() > 1) return nullptr;
  return &row;
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
  if (info.is_resource_request) {
    const VersionTable* version = routes->find(info.api_group, info.api_version);
    if (version) {
      if (const ResourceRow* row = find_row(*version, info)) {
        co_await row->handler->handle(context, exchange);
        co_return;
      }
    }
    auto group = routes->by_group.find(info.api_group);
    if (group != routes->by_group.end() && !group->second->dynamic) {
      co_await write_status(context, exchange, no_such_resource());
      co_return;
    }
  }
  std::string path = info.path;
  auto exact = routes->exact.find(path);
  if (exact == routes->exact.end() && path.size() > 1 && path.back() == '/' && root_path_allows_slash(path)) {
    path.pop_back();
    exact = routes->exact.find(path);
  }
  std::shared_ptr<HttpHandler> handler;
  if (exact != routes->exact.end()) {
    handler = exact->second.route.handler;
  } else {
    for (const auto& row : routes->prefixes) {
      const std::string& prefix = row.route.path;
      if (path == prefix || (path.starts_with(prefix) && (prefix.back() == '/' || path[prefix.size()] == '/'))) {
        handler = row.route.handler;
        break;
      }
    }
  }
  if (handler) {
    co_await handler->handle(context, exchange);
  } else {
    co_await not_found(context, exchange);
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

void Router::on_group_versions_changed(std::function<void()> callback) {
  std::lock_guard lock(mutex_);
  callbacks_.push_back(std::move(callback));
}

Status Router::add_group_rows(RouteTable& routes, const DelegationTarget& target, const APIGroupInfo& group) const {
  auto previous = table();
  GroupEntry* entry = nullptr;
  if (group.group.empty()) {
    if (!routes.core) routes.core = std::make_shared<GroupEntry>();
    entry = routes.core.get();
  } else {
    auto it = std::find_if(routes.groups.begin(), routes.groups.end(), [&](const GroupEntry& g) { return g.name == group.group; });
    if (it == routes.groups.end()) it = routes.groups.insert(routes.groups.end(), GroupEntry{});
    entry = &*it;
  }
  entry->name = group.group;
  entry->priority = std::max(entry->priority, group.group_priority_minimum);
  entry->dynamic = target.publishes_at_run_time && std::none_of(target.groups.begin(), target.groups.end(),
                                                                [&](const APIGroupInfo& own) { return own.group == group.group; });
  for (const auto& version : group.prioritized_versions) {
    auto storages = group.storages.find(version);
    if (storages == group.storages.end()) continue;
    std::map<std::string, std::shared_ptr<RestStorage>> enabled;
    for (const auto& [path, storage] : storages->second) {
      if (config_.enablement.resource_enabled({group.group, version, path})) enabled.emplace(path, storage);
    }
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
      auto made =
          make_version_table({group.group, version}, target.name, enabled, schema_set, handler_factory(config_, scheme_.get(), watches_));
      made->dynamic = entry->dynamic;
      made->version_priority = group.version_priority;
      rows = std::move(made);
    }
    entry->versions.push_back(rows);
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
      Status status = add_group_rows(*routes, target, group);
      if (!status.ok()) return status;
    }
    auto published = published_.find(target.name);
    if (published == published_.end()) continue;
    for (const auto& group : published->second) {
      Status status = add_group_rows(*routes, target, group);
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
  add_root_paths(*routes, config_, [this] { return chain_json(); });
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
