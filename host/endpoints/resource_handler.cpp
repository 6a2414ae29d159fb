#include "endpoints/resource_handler.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "backplane/core/metrics.hpp"
#include "backplane/points/audit.hpp"
#include "base/caught.hpp"
#include "base/origin_executor.hpp"
#include "base/status_exception.hpp"
#include "endpoints/errors.hpp"
#include "endpoints/handler_span.hpp"
#include "endpoints/log.hpp"
#include "endpoints/metered_exchange.hpp"
#include "endpoints/negotiation.hpp"
#include "endpoints/resource.hpp"
#include "endpoints/timed_out.hpp"
#include "endpoints/verbs.hpp"
#include "engine/codec.hpp"

namespace backplane {
namespace endpoints {
namespace {

// The kind of a path: a collection, a collection over all namespaces, or a named object or its subresource.
enum class Place : unsigned char { kCollection, kAllNamespaces, kItem };

bool past_deadline(const RequestContext& context) {
  return !context.long_running && context.deadline != std::chrono::steady_clock::time_point::max() &&
         std::chrono::steady_clock::now() >= context.deadline;
}

// A route, as upstream's installer registers one for each action.
struct Route {
  std::string_view method;
  Place place;
  bool watch;  // a path below /watch/
  bool (*served)(const Resource& resource);
  Verb verb;
};

bool can_list(const Resource& resource) { return resource.lister != nullptr; }
bool can_watch(const Resource& resource) { return resource.watcher != nullptr; }
bool can_get(const Resource& resource) { return resource.getter != nullptr; }
bool can_stream(const Resource& resource) { return resource.stream_getter != nullptr; }
bool can_create(const Resource& resource) { return resource.creater != nullptr && resource.scope.subresource.empty(); }
bool can_create_named(const Resource& resource) { return resource.named_creater != nullptr && !resource.scope.subresource.empty(); }
bool can_create_under(const Resource& resource) { return resource.creater != nullptr && !resource.scope.subresource.empty(); }
bool can_update(const Resource& resource) { return resource.updater != nullptr; }
bool can_patch(const Resource& resource) { return resource.patcher != nullptr; }
bool can_delete(const Resource& resource) { return resource.deleter != nullptr; }
bool can_delete_collection(const Resource& resource) { return resource.collection_deleter != nullptr; }

constexpr std::array<Route, 14> kRoutes = {{
    {"GET", Place::kCollection, false, can_list, serve_list},
    {"GET", Place::kAllNamespaces, false, can_list, serve_list},
    {"GET", Place::kItem, false, can_get, serve_get},
    {"GET", Place::kItem, false, can_stream, serve_stream},
    {"GET", Place::kCollection, true, can_watch, serve_watch},
    {"GET", Place::kAllNamespaces, true, can_watch, serve_watch},
    {"GET", Place::kItem, true, can_watch, serve_watch},
    {"POST", Place::kCollection, false, can_create, serve_create},
    {"POST", Place::kItem, false, can_create_named, serve_named_create},
    {"POST", Place::kItem, false, can_create_under, serve_create},
    {"PUT", Place::kItem, false, can_update, serve_update},
    {"PATCH", Place::kItem, false, can_patch, serve_patch},
    {"DELETE", Place::kItem, false, can_delete, serve_delete},
    {"DELETE", Place::kCollection, false, can_delete_collection, serve_delete_collection},
}};

Place place_of(const Resource& resource, const RequestInfo& info) {
  // The path decides, because a field selector on metadata.name also sets the name of a list request.
  const bool named = info.parts.empty() ? !info.name.empty() : info.parts.size() > 1;
  if (named) return Place::kItem;
  return resource.scope.namespaced && info.ns.empty() ? Place::kAllNamespaces : Place::kCollection;
}

bool connects(const Resource& resource, std::string_view method) {
  const auto& methods = resource.connect_methods;
  return std::find(methods.begin(), methods.end(), method) != methods.end();
}

// Returns true if the verb follows the group version in the path (/api/v1/watch/…), as the authorization has parsed it.
bool is_watch_path(const RequestInfo& info) {
  if (info.verb != "watch") return false;
  std::string_view rest = info.path;
  rest.remove_prefix(std::min(rest.find_first_not_of('/'), rest.size()));
  for (int before = rest.starts_with("apis/") ? 3 : 2; before > 0; --before) {
    const auto slash = rest.find('/');
    if (slash == std::string_view::npos) return false;
    rest.remove_prefix(slash + 1);
  }
  return rest.starts_with("watch/");
}

// The functions of upstream's handler of custom resources, by verb.
struct VerbRow {
  std::string_view name;
  bool (*served)(const Resource& resource);
  Verb verb;
  bool needs_name;
};
constexpr std::array<VerbRow, 8> kVerbs = {{
    {"get", can_get, serve_get, true},
    {"list", can_list, serve_list, false},
    {"watch", can_watch, serve_watch, false},
    {"create", can_create, serve_create, false},
    {"update", can_update, serve_update, true},
    {"patch", can_patch, serve_patch, false},  // the media type is checked before the name
    {"delete", can_delete, serve_delete, true},
    {"deletecollection", can_delete_collection, serve_delete_collection, false},
}};

// The function that serves a request, and the request's metric labels.
struct Served {
  Verb verb = nullptr;
  std::string_view scope;  // the value of the label
  bool sized = false;      // the size of the response is counted
  bool stays_open() const noexcept { return verb == serve_watch || verb == serve_connect || verb == serve_stream; }
};

// Counts an open request in apiserver_longrunning_requests.
class OpenRequest {
 public:
  explicit OpenRequest(RequestSeries* series) : series_(series) {
    if (series_ != nullptr) series_->opened();
  }
  ~OpenRequest() {
    if (series_ != nullptr) series_->closed();
  }
  OpenRequest(const OpenRequest&) = delete;
  OpenRequest& operator=(const OpenRequest&) = delete;

 private:
  RequestSeries* const series_;
};

class ResourceHandler final : public HttpHandler {
 public:
  explicit ResourceHandler(ResourceScope scope)
      : resource_(std::move(scope)),
        series_(resource_.scope.resource.group, resource_.scope.resource.version, resource_.scope.resource.resource,
                resource_.scope.subresource) {}

  // An exception is a bug of the server or of the storage's plugin. The client gets a Status in its encoding. A partial response is
  // aborted, so that it does not look complete.
  Task<void> handle(RequestContext& context, Exchange& exchange) override {
    const OriginExecutor origin;
    Status status;
    try {
      Served served;
      status = resource_.scope.published ? find_verb(context, served) : find_route(context, exchange, served);
      if (served.verb != nullptr) {
        RequestSeries* const series = count(context, exchange, served);
        const OpenRequest open(served.stays_open() ? series : nullptr);
        const HandlerSpan span(context, served.verb, served.stays_open());
        if (status.ok() && resource_.refuser != nullptr) status = resource_.refuser->refusal(context.info);
        if (status.ok()) status = co_await served.verb(resource_, context, exchange);
      }
    } catch (const StatusException& refused) {
      status = refused.status();
    } catch (...) {
      const Caught bug = caught();
      log_bug(context, exchange, bug);
      if (context.audit != nullptr) context.audit->panic = bug.what;
      status = recovered();
    }
    co_await origin;
    if (status.ok()) co_return;
    // If the handler has blocked the thread until after the deadline, the timer could not send the response, so this function does.
    const bool late = past_deadline(context);
    if (exchange.started()) {
      // If the timeout filter has sent the response at the deadline, the exchange is closed.
      if (!exchange.closed()) exchange.abort();
      co_return;
    }
    auto writing = late ? write_timed_out(context, exchange) : write_status(context, exchange, status);
    co_await std::move(writing);
  }

 private:
  static Task<void> write_timed_out(const RequestContext& context, Exchange& exchange) {
    TimedOutAnswer what = timed_out_answer(context);
    std::vector<SharedBytes> body;
    body.emplace_back(std::move(what.body));
    return exchange.respond(504, what.type, std::move(body));
  }

  void log_bug(const RequestContext& context, const Exchange& exchange, const Caught& bug) const {
    endpoints_log().error("recovered from a panic in a handler resource={} method={} URI={:?} audit-ID={:?} error={:?}{}",
                          resource_.scope.resource.resource, exchange.method(), exchange.target(), context.audit_id, bug.what, bug.stack);
  }

  void warn_deprecated(RequestContext& context) const {
    if (!resource_.scope.deprecation.warning.empty()) context.warn(resource_.scope.deprecation.warning);
  }

  // Returns null if the request is not counted.
  RequestSeries* count(RequestContext& context, Exchange& exchange, const Served& served) {
    if (!resource_.scope.deprecation.warning.empty()) count_deprecated(context);
    MeteredExchange* const meter = meter_of(exchange);
    if (meter == nullptr) return nullptr;
    modes_.show(context.info.query);
    RequestSeries& series = series_.find(context.info, exchange, served.scope, served.sized);
    meter->count_as(series);
    return &series;
  }

  void count_deprecated(RequestContext& context) const {
    static Metric& requested =
        Metric::gauge("apiserver_requested_deprecated_apis",
                      "[STABLE] Gauge of deprecated APIs that have been requested, broken out by API group, version, "
                      "resource, subresource, and removed_release.",
                      {"group", "removed_release", "resource", "subresource", "version"});
    const auto& [group, version, resource] = resource_.scope.resource;
    const std::string& removed = resource_.scope.deprecation.removed_release;
    requested.set({group, removed, resource, resource_.scope.subresource, version}, 1);
    context.annotate("k8s.io/deprecated", "true");
    if (!removed.empty()) context.annotate("k8s.io/removed-release", removed);
  }

  Status find_verb(RequestContext& context, Served& served) const {
    warn_deprecated(context);
    const RequestInfo& info = context.info;
    for (const VerbRow& row : kVerbs) {
      if (row.name != info.verb || !row.served(resource_)) continue;
      served = {row.verb, request_scope(info), row.verb == serve_get || row.verb == serve_list};
      return row.needs_name && info.name.empty() ? bad_request("name must be provided") : Status();
    }
    return method_not_allowed(resource_.scope.resource.group, resource_.scope.resource.resource, info.verb);
  }

  std::string_view scope_label(Place place, std::string_view method) const {
    if (place == Place::kItem || method == "POST") return "resource";
    return place == Place::kCollection && resource_.scope.namespaced ? "namespace" : "cluster";
  }

  // Upstream's router of built-in groups matches paths and methods. It checks media types before the handler, with its own messages.
  // Deprecation warnings are added by handlers, so a request without a route has none.
  Status find_route(RequestContext& context, const Exchange& exchange, Served& served) const {
    const std::string_view method = exchange.method();
    const Place place = place_of(resource_, context.info);
    const std::string_view scope = scope_label(place, method);
    if (place == Place::kItem && connects(resource_, method)) {
      warn_deprecated(context);
      served = {serve_connect, scope, false};
      return {};
    }
    const bool watch_path = is_watch_path(context.info);
    bool has_path = place == Place::kItem && !resource_.connect_methods.empty();
    for (const Route& route : kRoutes) {
      if (route.place != place || route.watch != watch_path || !route.served(resource_)) continue;
      has_path = true;
      if (route.method != method) continue;
      Status status = check_headers(resource_, context, exchange, route);
      if (!status.ok()) return status;
      warn_deprecated(context);
      served = {route.verb, scope, route.verb == serve_get || route.verb == serve_list};
      return choose_watch(context.info, served.verb);
    }
    return has_path ? method_not_routed() : not_routed();
  }

  // A list request with ?watch=true is a watch.
  Status choose_watch(const RequestInfo& info, Verb& verb) const {
    if (verb != serve_list || info.verb != "watch") return {};
    if (!can_watch(resource_)) return method_not_allowed(resource_.scope.resource.group, resource_.scope.resource.resource, "watch");
    verb = serve_watch;
    return {};
  }

  static Status check_headers(const Resource& resource, const RequestContext& context, const Exchange& exchange, const Route& route) {
    if (route.verb == serve_stream) return check_route_accept(context, exchange, false, resource.stream_getter->media_types());
    if (route.verb == serve_patch) {
      Status known = check_patch_type(context, exchange);
      if (!known.ok()) return known;
    }
    return check_route_accept(context, exchange, route.watch || route.verb == serve_list);
  }

  static Status check_patch_type(const RequestContext& context, const Exchange& exchange) {
    static constexpr std::array<std::string_view, 5> kTypes = {"application/json-patch+json", "application/merge-patch+json",
                                                               "application/strategic-merge-patch+json", "application/apply-patch+yaml",
                                                               "application/apply-patch+cbor"};
    const std::string_view type = bare_content_type(exchange);
    const auto* const end = kTypes.end() - (context.offers_cbor ? 0 : 1);
    return std::find(kTypes.begin(), end, type) != end ? Status() : route_unsupported_media_type();
  }

  const Resource resource_;
  RouteSeries series_;
  ValidationModes modes_;
};

// Converts a method of a Connecter like upstream's toDiscoveryKubeVerb.
std::string_view connect_verb(std::string_view method) {
  if (method == "GET") return "get";
  if (method == "POST") return "create";
  if (method == "PUT") return "update";
  if (method == "PATCH") return "patch";
  if (method == "DELETE") return "delete";
  return {};
}

}  // namespace
}  // namespace endpoints

std::shared_ptr<HttpHandler> make_resource_handler(ResourceScope scope) {
  return std::make_shared<endpoints::ResourceHandler>(std::move(scope));
}

std::vector<std::string> discovery_verbs(RestStorage& storage, bool subresource) {
  const bool gets = role_of<Getter>(&storage) != nullptr || role_of<StreamGetter>(&storage) != nullptr;
  const bool updates = role_of<Updater>(&storage) != nullptr;
  std::set<std::string> verbs;
  if (gets) verbs.insert("get");
  if (updates) verbs.insert("update");
  if (gets && updates && role_of<PatchForbidder>(&storage) == nullptr) verbs.insert("patch");
  if (role_of<GracefulDeleter>(&storage) != nullptr) verbs.insert("delete");
  if (role_of<Creater>(&storage) != nullptr || (subresource && role_of<NamedCreater>(&storage) != nullptr)) verbs.insert("create");
  if (!subresource) {
    if (role_of<Lister>(&storage) != nullptr) verbs.insert("list");
    if (role_of<Watcher>(&storage) != nullptr) verbs.insert("watch");
    const auto* collections = role_of<CollectionDeleter>(&storage);
    if (collections != nullptr && collections->deletes_collections()) verbs.insert("deletecollection");
  }
  if (auto* connecter = role_of<Connecter>(&storage)) {
    for (const std::string& method : connecter->connect_methods()) {
      if (const auto verb = endpoints::connect_verb(method); !verb.empty()) verbs.emplace(verb);
    }
  }
  return {verbs.begin(), verbs.end()};
}

}  // namespace backplane
