#include "routing/root_handlers.hpp"

#include <algorithm>
#include <set>

#include "endpoints/resource_handler.hpp"
#include "routing/discovery.hpp"
#include "routing/openapi.hpp"
#include "routing/version.hpp"

namespace backplane {
namespace {

constexpr std::string_view kAggregatedType = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
// Clients ask for …v2@v1.0+protobuf; an "@" is no media type, so the answer is named with a dot, as upstream names it.
constexpr std::string_view kOpenApiV2ProtobufType = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

Status method_not_allowed_here() {
  Status status(Reason::kMethodNotAllowed, "the server does not allow this method on the requested resource");
  status.with_details({});
  return status;
}

Status not_acceptable() {
  return Status(Reason::kNotAcceptable,
                "only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf");
}

// Which methods a document answers: upstream's go-restful services have a route for GET, its other handlers do not look.
enum class Methods : unsigned char { kGet, kAny };

class Document : public HttpHandler {
 public:
  explicit Document(Methods methods = Methods::kGet) : methods_(methods) {}
  Task<void> handle(RequestContext& context, Exchange& exchange) final {
    if (methods_ == Methods::kGet && exchange.method() != "GET") {
      co_await write_status(context, exchange, method_not_allowed_here());
      co_return;
    }
    co_await get(context, exchange);
  }

 protected:
  virtual Task<void> get(RequestContext& context, Exchange& exchange) = 0;

 private:
  Methods methods_;
};

class ValueDocument final : public Document {
 public:
  explicit ValueDocument(std::function<Value()> make, Methods methods = Methods::kGet) : Document(methods), make_(std::move(make)) {}

 private:
  Task<void> get(RequestContext& context, Exchange& exchange) override {
    Value value = make_();
    co_await write_value(context, exchange, 200, value);
  }
  std::function<Value()> make_;
};

// Sends a kept document with its ETag, or 304 when the client has it.
Task<void> send_kept(Exchange& exchange, const LazyDocument::Made& made, std::string_view content_type) {
  const std::string etag = "\"" + made.hash + "\"";
  exchange.set_response_header("ETag", etag);
  exchange.add_response_header("Vary", "Accept");
  if (exchange.header("if-none-match") == etag) {
    co_await exchange.respond(304, "", {});
    co_return;
  }
  std::vector<SharedBytes> body;
  body.push_back(made.bytes);
  co_await exchange.respond(200, content_type, std::move(body));
}

// /api and /apis: legacy or aggregated, by the Accept header.
class DiscoveryRoot final : public Document {
 public:
  DiscoveryRoot(const RouteTable& table, bool core, std::string address)
      : Document(core ? Methods::kGet : Methods::kAny), table_(table), core_(core), address_(std::move(address)) {}

 private:
  Task<void> get(RequestContext& context, Exchange& exchange) override {
    const DiscoveryForm form = discovery_form(exchange.header("accept"));
    if (form == DiscoveryForm::kNotAcceptable) {
      co_await write_status(context, exchange, not_acceptable());
    } else if (form == DiscoveryForm::kAggregated) {
      const LazyDocument& document = core_ ? table_.aggregated_api : table_.aggregated_apis;
      const auto& made = document.get([this] { return aggregated_discovery(table_, core_); });
      co_await send_kept(exchange, made, kAggregatedType);
    } else {
      Value value = core_ ? legacy_api_versions(table_, address_) : legacy_group_list(table_);
      co_await write_value(context, exchange, 200, value);
    }
  }
  const RouteTable& table_;
  bool core_;
  std::string address_;
};

// /openapi/v2 in JSON or protobuf.
class OpenApiV2 final : public Document {
 public:
  explicit OpenApiV2(const RouteTable& table) : table_(table) {}

 private:
  Task<void> get(RequestContext&, Exchange& exchange) override {
    const auto& text = table_.openapi_v2.get([this] { return openapi_v2_document(table_); });
    exchange.set_compressible(true);
    if (exchange.header("accept").find("proto-openapi.spec.v2") == std::string_view::npos) {
      co_await send_kept(exchange, text, "application/json");
      co_return;
    }
    const auto& proto = table_.openapi_v2_proto.get([&text] { return openapi_v2_protobuf(text.bytes.view()); });
    co_await send_kept(exchange, proto, kOpenApiV2ProtobufType);
  }
  const RouteTable& table_;
};

const LazyDocument::Made& v3_document(const VersionTable& version) {
  return version.openapi_v3.get([&version] { return openapi_v3_document(version); });
}

std::string v3_path(const GroupVersion& version) { return version.path().substr(1); }

// /openapi/v3 and everything below it.
class OpenApiV3 final : public Document {
 public:
  explicit OpenApiV3(const RouteTable& table) : table_(table) {}

 private:
  Task<void> get(RequestContext& context, Exchange& exchange) override {
    const std::string path = context.info.path;
    exchange.set_compressible(true);
    if (path.size() <= std::string_view("/openapi/v3/").size()) {
      const auto& index = table_.openapi_v3_index.get([this] { return make_index(); });
      co_await send_kept(exchange, index, "application/json");
      co_return;
    }
    const std::string wanted = path.substr(std::string_view("/openapi/v3/").size());
    for (const auto& [_, version] : table_.versions) {
      if (v3_path(version->version) != wanted) continue;
      co_await send_kept(exchange, v3_document(*version), "application/json");
      co_return;
    }
    co_await exchange.respond(404, "", {});
  }
  std::string make_index() const {
    std::map<std::string, std::string> urls;
    for (const auto& [_, version] : table_.versions) {
      const std::string path = v3_path(version->version);
      urls[path] = "/openapi/v3/" + path + "?hash=" + v3_document(*version).hash;
    }
    Object paths;
    for (const auto& [path, url] : urls) {
      Object item;
      item["serverRelativeURL"] = url;
      paths[path] = std::move(item);
    }
    Object out;
    out["paths"] = std::move(paths);
    return to_json(out);
  }
  const RouteTable& table_;
};

// The live chain, for administrators (authorization has let only them through).
class LiveText final : public Document {
 public:
  explicit LiveText(std::function<std::string()> make) : make_(std::move(make)) {}

 private:
  Task<void> get(RequestContext&, Exchange& exchange) override {
    std::vector<SharedBytes> body;
    body.emplace_back(make_() + "\n");
    co_await exchange.respond(200, "application/json", std::move(body));
  }
  std::function<std::string()> make_;
};

Value version_value() {
  Object out;
  for (const auto& [key, value] : kVersionFields) out[key] = key == "gitVersion" ? reported_version() : value;
  return out;
}

void put(RouteTable& routes, const std::string& path, bool listed, std::shared_ptr<HttpHandler> handler) {
  routes.exact.emplace(path, PathRow{PathRoute{path, false, listed, std::move(handler)}, "backplane"});
}

Value index_value(const RouteTable& routes, const std::vector<std::string>& published) {
  std::set<std::string> paths(published.begin(), published.end());
  for (const auto& [path, row] : routes.exact) {
    if (row.route.listed && path != "/") paths.insert(path);
  }
  for (const auto& row : routes.prefixes) {
    if (row.route.listed) paths.insert(row.route.path);
  }
  if (!routes.groups.empty()) paths.insert("/apis/");
  Array list;
  for (const auto& path : paths) list.emplace_back(path);
  Object out;
  out["paths"] = std::move(list);
  return out;
}

void add_group_paths(RouteTable& routes, const GroupEntry& group) {
  if (!group.name.empty()) {
    const GroupEntry* entry = &group;
    const Methods methods = group.of_front ? Methods::kGet : Methods::kAny;
    put(routes, "/apis/" + group.name, true, std::make_shared<ValueDocument>([entry] { return legacy_group(*entry); }, methods));
  }
  for (const auto& version : group.versions) {
    const VersionTable* table = version.get();
    const Methods methods = version->dynamic ? Methods::kAny : Methods::kGet;
    put(routes, version->version.path(), true, std::make_shared<ValueDocument>([table] { return legacy_resource_list(*table); }, methods));
  }
}

}  // namespace

bool root_path_allows_slash(std::string_view path) {
  return path.starts_with("/api") || path.starts_with("/version") || path.starts_with("/openapi/v3");
}

Status add_path(RouteTable& routes, const PathRoute& route, const std::string& registrant) {
  if (route.prefix) {
    for (const auto& row : routes.prefixes) {
      if (row.route.path == route.path) {
        return Status(Reason::kAlreadyExists, "path prefix " + quoted(route.path) + " is handled by plugin " + quoted(row.registrant) +
                                                  " already; plugin " + quoted(registrant) + " cannot handle it too");
      }
    }
    routes.prefixes.push_back({route, registrant});
    return {};
  }
  auto [it, added] = routes.exact.emplace(route.path, PathRow{route, registrant});
  if (added) return {};
  return Status(Reason::kAlreadyExists, "path " + quoted(route.path) + " is handled by plugin " + quoted(it->second.registrant) +
                                            " already; plugin " + quoted(registrant) + " cannot handle it too");
}

HandlerFactory handler_factory(const RouterConfig& config, const Scheme* scheme, std::shared_ptr<OpenWatches> watches, bool published) {
  return [&config, scheme, watches = std::move(watches), published](const ResourceRow& row, const GroupVersion& version) {
    ResourceScope scope;
    scope.resource = {version.group, version.version, row.resource};
    scope.subresource = row.subresource;
    scope.kind = row.kind;
    scope.namespaced = row.namespaced;
    scope.storage = row.storage;
    scope.published = published;
    if (const auto* deprecated = dynamic_cast<const DeprecationProvider*>(row.storage.get())) {
      scope.deprecation_warning = deprecated->deprecation_warning();
    }
    scope.admission = config.admission;
    scope.min_request_timeout = config.min_request_timeout;
    scope.max_body_bytes = config.max_body_bytes;
    scope.shutting_down = config.shutting_down;
    scope.watches = watches;
    scope.scheme = scheme;
    return make_resource_handler(std::move(scope));
  };
}

std::shared_ptr<const VersionTable> reuse_version_table(const RouteTable& previous, const std::string& key,
                                                        const std::map<std::string, std::shared_ptr<RestStorage>>& storages,
                                                        const std::shared_ptr<const SchemaSet>& schemas) {
  auto it = previous.versions.find(key);
  if (it == previous.versions.end() || it->second->rows.size() != storages.size() || it->second->schemas != schemas) return nullptr;
  for (const auto& [path, storage] : storages) {
    auto row = it->second->rows.find(path);
    if (row == it->second->rows.end() || row->second.storage != storage) return nullptr;
  }
  return it->second;
}

void add_root_paths(RouteTable& routes, const RouterConfig& config, std::function<std::string()> chain_json,
                    std::function<std::vector<std::string>()> published_paths) {
  const RouteTable* table = &routes;
  if (routes.core) {
    put(routes, "/api", true, std::make_shared<DiscoveryRoot>(routes, true, config.server_address));
    add_group_paths(routes, *routes.core);
  }
  put(routes, "/apis", true, std::make_shared<DiscoveryRoot>(routes, false, config.server_address));
  for (const auto& group : routes.groups) add_group_paths(routes, group);
  put(routes, "/version", true, std::make_shared<ValueDocument>(version_value));
  put(routes, "/openapi/v2", true, std::make_shared<OpenApiV2>(routes));
  auto v3 = std::make_shared<OpenApiV3>(routes);
  put(routes, "/openapi/v3", true, v3);
  routes.prefixes.push_back({PathRoute{"/openapi/v3/", true, true, v3}, "backplane"});
  put(routes, "/debug/chain", false, std::make_shared<LiveText>(std::move(chain_json)));
  put(routes, "/", false, std::make_shared<ValueDocument>([table, published_paths = std::move(published_paths)] {
        return index_value(*table, published_paths());
      }));
}

}  // namespace backplane
