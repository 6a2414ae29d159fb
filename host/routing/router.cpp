#include "routing/router.hpp"

#include <algorithm>

#include "base/caught.hpp"
#include "endpoints/resource_handler.hpp"
#include "routing/groups_editor.hpp"
#include "routing/log.hpp"
#include "routing/peer_documents.hpp"
#include "routing/reserved_paths.hpp"
#include "routing/root_handlers.hpp"
#include "routing/route_composer.hpp"
#include "routing/route_table.hpp"

namespace backplane {
namespace {

template <class Items, class Name>
Array names_of(const Items& items, Name name) {
  Array out;
  for (const auto& item : items) out.emplace_back(name(item));
  return out;
}

// Returns true for a path of a resource in a namespace, /namespaces/NS/RESOURCE. Returns false for the namespace itself, /namespaces/NS.
bool within_namespace(const RequestInfo& info) {
  if (info.ns.empty()) return false;
  return info.resource != "namespaces" || info.path.find("/namespaces/" + info.ns + "/namespaces") != std::string::npos;
}

// Returns true if a built-in resource has a route for the path of the request. In upstream, a built-in resource has a route for each of its
// paths.
bool routes_built_in(const ResourceRow& row, const RequestInfo& info) {
  if (info.verb == "proxy") return false;
  const std::size_t parts = info.subresource.empty() ? 2 : 3;
  if (info.parts.size() > parts && !row.takes_path) return false;
  if (!row.namespaced) return !within_namespace(info);
  return !info.ns.empty() || info.parts.size() == 1;
}

// Returns true if the handler of a custom resource accepts the path. The handler checks only the scope. Lists and watches may span all
// namespaces; other verbs may not.
bool routes_published(const ResourceRow& row, const RequestInfo& info) {
  if (row.namespaced == !info.ns.empty()) return true;
  return row.namespaced && (info.verb == "list" || info.verb == "watch");
}

// Returns the row of a resource request; null if upstream has no route for the request.
const ResourceRow* find_row(const VersionTable& version, const RequestInfo& info) {
  std::string path = info.resource;
  if (!info.subresource.empty()) path.append("/").append(info.subresource);
  const RowRef* row = version.rows.find(path);
  if (row == nullptr) return nullptr;
  const bool routed = version.dynamic ? routes_published(**row, info) : routes_built_in(**row, info);
  return routed ? row->get() : nullptr;
}

// Returns true if a custom resource is served and does not have the subresource of the request.
bool lacks_subresource(const VersionTable& version, const RequestInfo& info) {
  if (!version.dynamic || info.subresource.empty()) return false;
  const RowRef* resource = version.rows.find(info.resource);
  return resource != nullptr && routes_published(**resource, info);
}

// Returns true if the path is a path of the API. Two paths are authorized like API paths, but are not: "//api/v1/pods", and
// "/apis//v1/pods", whose empty group is not the group of "/api/v1".
bool is_api_path(const RequestInfo& info) {
  return info.is_resource_request && info.path.find_first_not_of('/') == 1 && info.api_group.empty() == (info.api_prefix == "api");
}

// Returns true if upstream has a go-restful service for the beginning of the path. Such a service itself responds with 404 if it has no
// route for the rest of the path.
bool below_known_root(const RouteTable& routes, std::string_view path) {
  if (is_below(path, "/version")) return true;
  if (is_below(path, "/api")) return routes.group("") != nullptr;
  constexpr std::string_view kGroups = "/apis/";
  if (!path.starts_with(kGroups)) return false;
  path.remove_prefix(kGroups.size());
  const std::string_view name = path.substr(0, path.find('/'));
  const GroupEntry* group = name.empty() ? nullptr : routes.group(name);
  return group != nullptr && !group->dynamic;
}

std::shared_ptr<HttpHandler> find_exact(const TableRef& routes, const DocumentContext& context, const std::string& path) {
  const auto exact = routes->paths->exact.find(path);
  return exact != routes->paths->exact.end() ? exact->second.route.handler : find_document(routes, context, path);
}

// Returns the handler of an exact path of the host or of a delegate, or of a document.
std::shared_ptr<HttpHandler> find_own(const TableRef& routes, const DocumentContext& context, std::string path) {
  std::shared_ptr<HttpHandler> handler = find_exact(routes, context, path);
  if (!handler && path.size() > 1 && path.back() == '/' && root_path_allows_slash(path)) {
    path.pop_back();
    handler = find_exact(routes, context, path);
  }
  return handler;
}

std::shared_ptr<HttpHandler> find_prefix(const TableRef& routes, std::string_view path) {
  for (const PathRow& row : routes->paths->prefixes) {
    const std::string& prefix = row.route.path;
    if (is_below(path, prefix) || (prefix.back() == '/' && path.starts_with(prefix))) return row.route.handler;
  }
  return nullptr;
}

bool serves(const VersionTable* version, const std::string& resource) {
  return version != nullptr && version->rows.find(resource) != nullptr;
}

// Returns the server of kube-apiserver's chain that serves the groups of the delegate. The chain has three servers.
std::string_view upstream_server(std::string_view delegate) {
  if (delegate == "apiextensions") return "apiextensions-apiserver";
  return delegate == "aggregator" ? "kube-aggregator" : "kube-apiserver";
}

// Logs which plugin serves the request. Enabled by -v=6 or --vmodule=routing=6.
void log_delegate(const RequestInfo& info, std::string_view delegate) {
  routing_log().trace("{} {:?} satisfied by delegate={:?} server={}", info.verb, info.path, delegate, upstream_server(delegate));
}

// Calls one callback. An exception is logged, so that the other callbacks are still called.
void notify_callback(const std::function<void(const GroupVersionsChange&)>& callback, const GroupVersionsChange& change) {
  try {
    callback(change);
  } catch (...) {
    const Caught error = caught();
    routing_log().error("a callback of group version changes failed error={:?}{}", error.what, error.stack);
  }
}

}  // namespace

Router::Router(RouterConfig config)
    : config_(std::move(config)),
      watches_(std::make_shared<OpenWatches>()),
      shelf_(std::make_shared<DocumentShelf>()),
      table_(std::make_shared<const RouteTable>()) {
  if (config_.shutting_down) watches_->end_all_on(*config_.shutting_down);
}
Router::~Router() = default;

void Router::use_peers(std::shared_ptr<PeerServers> peers) {
  if (peers) peers_ = std::make_shared<PeerDocuments>(std::move(peers));
}

std::shared_ptr<HttpHandler> Router::find_handler(const RequestContext& context, const Exchange& exchange) const {
  const TableRef routes = table_.get();
  const RequestInfo& info = context.info;
  const VersionTable* version = is_api_path(info) ? routes->find(info.api_group, info.api_version) : nullptr;
  if (version != nullptr) {
    log_delegate(info, version->delegate);
    if (version->forward) return version->forward;
    if (const ResourceRow* row = find_row(*version, info)) return row->handler;
    if (lacks_subresource(*version, info)) return answer_with(not_found(info.api_group, info.resource, info.name));
  }
  routing_log().trace("{} {:?} satisfied by no delegate's resource", info.verb, info.path);
  if (auto handler = find_own(routes, documents(), info.path)) return handler;
  if (auto handler = published_paths_.find(info.path)) return handler;
  if (auto handler = find_prefix(routes, info.path)) return handler;
  if (peers_ && info.is_resource_request && !serves(version, info.resource)) {
    if (auto handler = peers_->servers().find(context, exchange)) return handler;
  }
  return below_known_root(*routes, info.path) ? no_such_resource() : no_such_page();
}

DocumentContext Router::documents() const { return {config_.addresses, published_paths_, shelf_, peers_}; }

// A change of plugins publishes what it adds to admission before the routes, and what it removes from it after them. So the plugins that
// are the newest ones both before and after the route was found are those that belong to the route.
std::shared_ptr<HttpHandler> Router::find_with_admission(RequestContext& context, const Exchange& exchange) const {
  // A long-running request would keep the code of withdrawn plugins in memory.
  const bool writes = context.info.is_resource_request && context.info.verb != "get" && context.info.verb != "list";
  if (!writes || config_.admission == nullptr || context.long_running) return find_handler(context, exchange);
  for (auto admission = config_.admission->newest();;) {
    auto handler = find_handler(context, exchange);
    auto newest = config_.admission->newest();
    if (newest == admission) {
      context.admission = std::move(newest);
      return handler;
    }
    admission = std::move(newest);
  }
}

Task<void> Router::handle(RequestContext& context, Exchange& exchange) {
  // Keeps the handler alive, but not the route table. Otherwise, an open watch would keep an old table alive.
  const std::shared_ptr<HttpHandler> handler = find_with_admission(context, exchange);
  co_await handler->handle(context, exchange);
}

Status Router::compose(std::vector<DelegationTarget> chain, std::vector<PathRoute> host_paths) {
  std::vector<TargetRef> targets;
  targets.reserve(chain.size());
  for (auto& target : chain) targets.push_back(std::make_shared<const DelegationTarget>(std::move(target)));
  return compose(std::move(targets), std::move(host_paths));
}

Status Router::compose(std::vector<TargetRef> chain, std::vector<PathRoute> host_paths) {
  {
    PendingNotification notification;
    const std::lock_guard lock(mutex_);
    auto made = composed(chain, host_paths, notification.change);
    if (!made.ok()) return std::move(made.status());
    const bool first = chain_.empty();
    for (const auto& target : chain) {
      if (std::find(chain_.begin(), chain_.end(), target) != chain_.end()) continue;
      if (first && target->publishes_at_run_time) unpublished_.insert(target->name);
      if (target->watches && config_.shutting_down) target->watches->end_all_on(*config_.shutting_down);
    }
    chain_ = std::move(chain);
    table_.set(std::move(*made));
    // The first table is not a change, so the callbacks do not receive it.
    if (first) notification.change = {};
    notification.complete = first && unpublished_.empty();
    pending_notifications_.push_back(std::move(notification));
  }
  notify();
  return {};
}

Result<TableRef> Router::composed(const std::vector<TargetRef>& chain, const std::vector<PathRoute>& host_paths,
                                  GroupVersionsChange& change) {
  const TableRef before = table_.get();
  RouteComposer composer(config_, *before);
  Status status = composer.add_paths(host_paths, "backplane");
  for (const auto& target : chain) {
    if (!status.ok()) return status;
    const bool stays = std::find(chain_.begin(), chain_.end(), target) != chain_.end();
    status =
        composer.add(*target, stays, handler_factory(config_, scheme_, target->watches ? target->watches : watches_, /*published=*/false));
  }
  if (status.ok()) status = composer.take_over_published();
  if (!status.ok()) return status;
  add_root_paths(composer.paths(), config_.version, [this] { return chain_json(); });
  return TableRef(composer.finish(change));
}

Status Router::change(const std::string& delegate, GroupsChange change) {
  {
    PendingNotification notification;
    const std::lock_guard lock(mutex_);
    const TableRef before = table_.get();
    const HandlerFactory handler_of = handler_factory(config_, scheme_, watches_, /*published=*/true);
    GroupsEditor editor(before->groups, delegate, handler_of);
    Status status = editor.apply(change);
    if (!status.ok()) return status;
    auto routes = std::make_shared<RouteTable>(*before);
    routes->groups = editor.finish(notification.change);
    table_.set(std::move(routes));
    notification.complete = unpublished_.erase(delegate) > 0 && unpublished_.empty();
    pending_notifications_.push_back(std::move(notification));
  }
  notify();
  return {};
}

// Calls the callbacks for the queued changes, one change at a time, in the order of the changes. If another call of notify() is in
// progress, possibly on this thread, the function returns immediately, and the other call processes the queue.
void Router::notify() {
  std::unique_lock lock(mutex_);
  if (std::exchange(notifying_, true)) return;
  while (!pending_notifications_.empty()) {
    const PendingNotification next = std::move(pending_notifications_.front());
    pending_notifications_.pop_front();
    const auto callbacks = callbacks_;
    lock.unlock();
    const bool any = !next.change.served.empty() || !next.change.gone.empty();
    for (const auto& [_, callback] : callbacks) {
      if (any) notify_callback(callback, next.change);
    }
    if (next.complete) groups_complete_.fire();
    lock.lock();
  }
  notifying_ = false;
}

Status Router::publish_path(const std::string& delegate, PathRoute route) {
  // The host handles all paths below these roots, even for groups that no plugin serves yet.
  for (const std::string_view root : {"/api", "/openapi"}) {
    if (is_below(route.path, root)) {
      return bad_request("path " + quoted(route.path) + " is inside " + quoted(root) + ", which the host serves");
    }
  }
  if (auto status = check_not_reserved(route.path); !status.ok()) return status;
  const std::lock_guard lock(mutex_);
  const TableRef routes = table_.get();
  const FixedPaths& paths = *routes->paths;
  const auto exact = paths.exact.find(route.path);
  const auto prefix =
      std::find_if(paths.prefixes.begin(), paths.prefixes.end(), [&](const PathRow& row) { return row.route.path == route.path; });
  if (exact != paths.exact.end()) return path_taken(route.path, exact->second.registrant);
  if (prefix != paths.prefixes.end()) return path_taken(route.path, prefix->registrant);
  if (find_document(routes, documents(), route.path)) return path_taken(route.path, "backplane");
  return published_paths_.publish(delegate, std::move(route));
}

Status Router::withdraw_path(const std::string& delegate, const std::string& path) { return published_paths_.withdraw(delegate, path); }

std::vector<GroupVersionInfo> Router::group_versions() const {
  std::vector<GroupVersionInfo> out;
  const TableRef routes = table_.get();
  std::vector<const GroupEntry*> groups = routes->named_groups();
  if (const GroupEntry* core = routes->group("")) groups.insert(groups.begin(), core);
  for (const GroupEntry* group : groups) {
    for (const auto& version : group->versions) out.push_back(info_of(*version));
  }
  return out;
}

std::shared_ptr<RestStorage> Router::find_storage(const GroupVersionResource& resource) const {
  const TableRef routes = table_.get();
  const VersionTable* version = routes->find(resource.group, resource.version);
  const RowRef* row = version ? version->rows.find(resource.resource) : nullptr;
  return row ? (*row)->storage : nullptr;
}

std::shared_ptr<RestStorage> Router::find_storage_of(const GroupVersionKind& kind) const {
  const TableRef routes = table_.get();
  const VersionTable* version = routes->find(kind.group, kind.version);
  std::shared_ptr<RestStorage> found;
  if (version == nullptr) return found;
  version->rows.each([&](const std::string&, const RowRef& row) {
    if (found == nullptr && row->subresource.empty() && row->kind == kind) found = row->storage;
  });
  return found;
}

void Router::on_group_versions_changed(std::function<void(const GroupVersionsChange&)> callback, const void* owner) {
  std::lock_guard lock(mutex_);
  callbacks_.emplace_back(owner, std::move(callback));
}

void Router::drop_callbacks(const void* owner) {
  Callbacks dropped;  // destroyed after the lock is released
  std::lock_guard lock(mutex_);
  const auto from = std::stable_partition(callbacks_.begin(), callbacks_.end(), [&](const auto& each) { return each.first != owner; });
  dropped.assign(std::make_move_iterator(from), std::make_move_iterator(callbacks_.end()));
  callbacks_.erase(from, callbacks_.end());
}

std::vector<std::string> Router::index_paths() const {
  const TableRef routes = table_.get();
  const auto paths = backplane::index_paths(*routes, published_paths_.listed());
  return {paths.begin(), paths.end()};
}

std::string Router::chain_json() const {
  std::lock_guard lock(mutex_);
  const TableRef routes = table_.get();
  std::map<std::string, Array> published;
  for (const VersionTable* version : routes->versions()) {
    if (version->dynamic) published[version->delegate].emplace_back(version->version.to_string());
  }
  Array delegates;
  for (const auto& each : chain_) {
    const DelegationTarget& target = *each;
    Object delegate;
    delegate["name"] = target.name;
    Array served;
    for (const auto& group : target.groups) {
      for (const auto& version : group.prioritized_versions) served.emplace_back(GroupVersion{group.group, version}.to_string());
    }
    for (auto& version : published[target.name]) served.push_back(version);
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
