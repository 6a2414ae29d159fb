#include "routing/root_handlers.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <boost/algorithm/string/trim.hpp>
#include <set>

#include "backplane/types/api_lifecycle.hpp"
#include "endpoints/errors.hpp"
#include "endpoints/json_indent.hpp"
#include "endpoints/metered_exchange.hpp"
#include "endpoints/negotiation.hpp"
#include "endpoints/resource_handler.hpp"
#include "endpoints/respond.hpp"
#include "engine/codec.hpp"
#include "routing/discovery.hpp"
#include "routing/document.hpp"
#include "routing/openapi_handlers.hpp"
#include "routing/peer_discovery.hpp"
#include "routing/peer_documents.hpp"
#include "routing/version.hpp"

namespace backplane {
namespace {

constexpr std::string_view kAggregatedWords = ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

Status not_acceptable() {
  return Status(Reason::kNotAcceptable,
                "only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf");
}

// The handler of /version, which has only a JSON encoding.
class VersionDocument final : public HttpHandler {
 public:
  explicit VersionDocument(Value value) : value_(std::move(value)) {}
  Task<void> handle(RequestContext& context, Exchange& exchange) override {
    Status fits = exchange.method() == "GET" ? endpoints::check_accept_of(exchange, "application/json") : endpoints::method_not_routed();
    if (!fits.ok()) {
      co_await write_status(context, exchange, fits);
      co_return;
    }
    std::vector<SharedBytes> body;
    std::string text = pretty_json(to_json(value_));
    text.pop_back();
    body.emplace_back(std::move(text));
    co_await exchange.respond(200, "application/json", std::move(body));
  }

 private:
  Value value_;
};

// `kind`: the kind of the value; empty if the value has no protobuf encoding.
class ValueDocument final : public Document {
 public:
  explicit ValueDocument(std::function<Value()> make, Methods methods = Methods::kGet, std::string_view kind = {})
      : Document(methods), make_(std::move(make)), schema_(kind.empty() ? nullptr : discovery_schema(kind)) {}

 private:
  Task<void> get(RequestContext& context, Exchange& exchange) override {
    Value value;
    auto making = run_blocking([this, &value] { value = make_(); });
    co_await std::move(making);
    co_await write_value(context, exchange, 200, value, schema_);
  }
  std::function<Value()> make_;
  const Schema* schema_;
};

bool is_ip(const std::string& text) {
  std::array<unsigned char, 16> bytes{};
  return inet_pton(text.find(':') == std::string::npos ? AF_INET : AF_INET6, text.c_str(), bytes.data()) == 1;
}

// Returns the client address from a proxy's header, or the address of the connection. The result must not be trusted.
std::string client_ip(const Exchange& exchange) {
  const std::string_view forwarded = exchange.header("x-forwarded-for");
  for (const std::string_view header : {forwarded.substr(0, forwarded.find(',')), exchange.header("x-real-ip")}) {
    std::string address(header);
    boost::algorithm::trim(address);
    if (is_ip(address)) return address;
  }
  std::string_view peer = exchange.remote_address();
  peer = peer.substr(0, peer.rfind(':'));
  if (peer.starts_with('[') && peer.ends_with(']')) peer = peer.substr(1, peer.size() - 2);
  return std::string(peer);
}

bool is_indented(const Query& query, const Exchange& exchange) {
  return endpoints::wants_pretty(query, exchange) || exchange.header("accept").find("pretty=1") != std::string_view::npos;
}

// Converts the document to YAML or indented JSON. Clients rarely request these, so the result is not cached.
LazyDocument::MadeRef in_other_text(const MadeDocument& document, bool yaml) {
  auto out = std::make_shared<MadeDocument>();
  out->hash = document.hash;
  out->made = document.made;
  std::string text;
  if (yaml) {
    text = endpoints::yaml_of(document.bytes.view());
  } else {
    endpoints::JsonIndenter().feed(document.bytes.view(), text);
  }
  out->bytes = SharedBytes(std::move(text));
  return out;
}

// The handler of /api and /apis. The Accept header selects the legacy or the aggregated format.
class DiscoveryRoot final : public Document {
 public:
  DiscoveryRoot(TableRef table, const DocumentContext& context, bool core)
      : Document(core ? Methods::kGet : Methods::kAny),
        table_(std::move(table)),
        shelf_(context.shelf),
        addresses_(context.addresses),
        peers_(core ? nullptr : context.peers),
        core_(core) {}

 private:
  Task<void> get(RequestContext& context, Exchange& exchange) override {
    // As in upstream, "/apis/" always returns the legacy document.
    const std::string_view target = exchange.target();
    const bool aggregated = core_ || !target.substr(0, target.find('?')).ends_with('/');
    const DiscoveryForm form = discovery_form(exchange.header("accept"), aggregated);
    if (form == DiscoveryForm::kNotAcceptable) {
      co_await write_status(context, exchange, not_acceptable());
    } else if (form != DiscoveryForm::kLegacy) {
      count_document(context, exchange, core_ ? "api" : "apis", "apiserver");
      co_await send_aggregated(context, exchange, form);
    } else {
      Value value;
      const std::string client = client_ip(exchange);
      auto making = run_blocking(
          [this, &value, &client] { value = core_ ? legacy_api_versions(*table_, addresses_(client)) : legacy_group_list(*table_); });
      co_await std::move(making);
      co_await write_value(context, exchange, 200, value, discovery_schema(core_ ? "APIVersions" : "APIGroupList"));
    }
  }
  // Selects the documents that include the resources of peers, unless the client excludes them.
  void look_at_peers(const Exchange& exchange) {
    if (requests_no_peers(exchange.header("accept"))) return PeerDocuments::count_request_without();
    if (peers_) merged_ = peers_->of(table_);
  }
  std::string aggregated() const {
    std::string own = aggregated_discovery(*table_, core_);
    return merged_ ? with_peers(own, *merged_->peers) : own;
  }
  const LazyDocument& json() const { return merged_ ? merged_->json : core_ ? table_->aggregated_api : table_->aggregated_apis; }
  const LazyDocument& protobuf() const {
    return merged_ ? merged_->protobuf : core_ ? table_->aggregated_api_proto : table_->aggregated_apis_proto;
  }
  // All encodings have the hash of the JSON document, because upstream has one ETag for all.
  Task<void> send_aggregated(RequestContext& context, Exchange& exchange, DiscoveryForm form) {
    look_at_peers(exchange);
    const LazyDocument& document = json();
    std::string hash = document.hash();
    if (hash.empty()) {
      auto hashing = run_blocking([this, &hash] { hash = aggregated_hash(aggregated()); });
      co_await std::move(hashing);
    }
    auto making = document.get(
        shelf_, [this] { return aggregated(); }, std::move(hash));
    LazyDocument::MadeRef made = co_await std::move(making);
    std::string content_type(json_codec().media_type());
    if (form == DiscoveryForm::kAggregatedProtobuf) {
      auto encoding = protobuf().get(
          shelf_, [text = made] { return aggregated_protobuf(text->bytes.view()); }, made->hash);
      made = co_await std::move(encoding);
      content_type = protobuf_codec().media_type();
    } else if (form == DiscoveryForm::kAggregatedYaml || is_indented(context.info.query, exchange)) {
      const bool yaml = form == DiscoveryForm::kAggregatedYaml;
      auto written = run_blocking([&made, yaml] { made = in_other_text(*made, yaml); });
      co_await std::move(written);
      if (yaml) content_type = "application/yaml";
    }
    table_.reset();
    content_type.append(kAggregatedWords);
    exchange.set_response_header("Cache-Control", "public");
    co_await send_kept(exchange, std::move(made), std::move(content_type));
  }
  TableRef table_;
  std::shared_ptr<DocumentShelf> shelf_;
  ServerAddresses addresses_;
  const std::shared_ptr<PeerDocuments> peers_;  // null: resources of peers are not included
  PeerDocuments::Ref merged_;
  bool core_;
};

// Responds to each request with the same status.
class Answer final : public HttpHandler {
 public:
  explicit Answer(Status status) : status_(std::move(status)) {}
  Task<void> handle(RequestContext& context, Exchange& exchange) override { co_await write_status(context, exchange, status_); }

 private:
  Status status_;
};

// Like upstream's notfoundhandler: responds with 503 and Retry-After while paths are being installed, after that with 404 and the plain
// text of net/http.
class NoSuchPage final : public HttpHandler {
 public:
  Task<void> handle(RequestContext& context, Exchange& exchange) override {
    // The filter has read the state when the request arrived. The route table that was searched may be older than the present state.
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
};

// The handler of /debug/chain. Authorization permits it to administrators only.
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

Value version_value(const ReportedVersion& version) {
  Object out;
  for (const auto& [key, value] : version.fields()) out[key] = value;
  return out;
}

}  // namespace

std::set<std::string> index_paths(const RouteTable& routes, const std::vector<std::string>& published) {
  std::set<std::string> paths{"/apis", "/openapi/v2", "/openapi/v3", "/openapi/v3/"};
  paths.insert(published.begin(), published.end());
  for (const auto& [path, row] : routes.paths->exact) {
    if (row.route.listed && path != "/") paths.insert(path);
  }
  for (const auto& row : routes.paths->prefixes) {
    if (row.route.listed) paths.insert(row.route.path);
  }
  routes.groups.each([&](const std::string& name, const GroupRef& group) {
    paths.insert(name.empty() ? "/api" : "/apis/" + name);
    if (!name.empty()) paths.insert("/apis/");
    for (const auto& version : group->versions) paths.insert(version->version.path());
  });
  return paths;
}

namespace {

Value index_value(const RouteTable& routes, const std::vector<std::string>& published) {
  const auto paths = index_paths(routes, published);
  Array list;
  for (const auto& path : paths) list.emplace_back(path);
  Object out;
  out["paths"] = std::move(list);
  return out;
}

using Handler = std::shared_ptr<HttpHandler>;

Handler version_document(VersionRef version) {
  if (!version || version->forward) return version ? version->forward : nullptr;
  const Methods methods = version->dynamic ? Methods::kAny : Methods::kGet;
  return std::make_shared<ValueDocument>([version] { return legacy_resource_list(*version); }, methods, "APIResourceList");
}

Handler group_document(GroupRef group) {
  const Methods methods = group->answers_for_all_delegates ? Methods::kGet : Methods::kAny;
  return std::make_shared<ValueDocument>([group] { return legacy_group(*group); }, methods, "APIGroup");
}

// `rest`: the path after "/apis/", which is GROUP or GROUP/VERSION.
Handler below_apis(const RouteTable& routes, std::string_view rest) {
  const auto slash = rest.find('/');
  const GroupRef* group = rest.empty() || slash == 0 ? nullptr : routes.groups.find(rest.substr(0, slash));
  if (group == nullptr) return nullptr;
  if (slash == std::string_view::npos) return group_document(*group);
  return version_document(routes.find_shared(rest.substr(0, slash), rest.substr(slash + 1)));
}

}  // namespace

Handler find_document(const TableRef& routes, const DocumentContext& context, std::string_view path) {
  constexpr std::string_view kApis = "/apis/";
  constexpr std::string_view kOpenApiV3 = "/openapi/v3/";
  if (path == "/" || path == "/index.html")
    return std::make_shared<ValueDocument>([routes, published = &context.published] { return index_value(*routes, published->listed()); },
                                           Methods::kAny);
  if (path == "/api" && routes->group("")) return std::make_shared<DiscoveryRoot>(routes, context, true);
  if (path == "/apis") return std::make_shared<DiscoveryRoot>(routes, context, false);
  if (path == "/openapi/v2") return openapi_v2_handler(routes, context.shelf);
  if (path == "/openapi/v3") return openapi_v3_index_handler(routes, context.shelf);
  if (path.starts_with("/api/")) return version_document(routes->find_shared("", path.substr(5)));
  if (path.starts_with(kApis)) return below_apis(*routes, path.substr(kApis.size()));
  if (path.starts_with(kOpenApiV3) && path.size() > kOpenApiV3.size())
    return openapi_v3_handler(*routes, context.shelf, path.substr(kOpenApiV3.size()));
  return nullptr;
}

bool root_path_allows_slash(std::string_view path) {
  return path.starts_with("/api") || path.starts_with("/version") || path.starts_with("/openapi/v3");
}

Handler answer_with(Status status) { return std::make_shared<Answer>(std::move(status)); }

Handler no_such_resource() {
  Status status(Reason::kNotFound, "the server could not find the requested resource");
  status.with_details({});
  return answer_with(std::move(status));
}

Handler no_such_page() { return std::make_shared<NoSuchPage>(); }

namespace {

// `published`: the author of a definition has written the text, so no release is parsed from it.
Deprecation deprecation_of(const ResourceRow& row, bool published) {
  Deprecation out;
  out.warning = row.storage->deprecation_warning();
  if (!published) out.removed_release = removed_release_in(out.warning);
  return out;
}

}  // namespace

HandlerFactory handler_factory(const RouterConfig& config, const kit::Published<Scheme>& scheme, std::shared_ptr<OpenWatches> watches,
                               bool published) {
  return [&config, &scheme, watches = std::move(watches), published](const ResourceRow& row, const GroupVersion& version) {
    ResourceScope scope;
    scope.resource = {version.group, version.version, row.resource};
    scope.subresource = row.subresource;
    scope.kind = row.kind;
    scope.namespaced = row.namespaced;
    scope.storage = row.storage;
    scope.published = published;
    scope.deprecation = deprecation_of(row, published);
    scope.authorizer = config.authorizer;
    scope.admission = config.admission;
    scope.min_request_timeout = config.min_request_timeout;
    scope.max_body_bytes = config.max_body_bytes;
    scope.unsafe_deletes = config.unsafe_deletes;
    scope.shutting_down = config.shutting_down;
    scope.watches = watches;
    scope.scheme = &scheme;
    return make_resource_handler(std::move(scope));
  };
}

void add_root_paths(FixedPaths& paths, const ReportedVersion& version, std::function<std::string()> chain_json) {
  const auto put = [&paths](const std::string& path, bool listed, Handler handler) {
    paths.exact.emplace(path, PathRow{PathRoute{path, false, listed, std::move(handler)}, "backplane"});
  };
  put("/version", true, std::make_shared<VersionDocument>(version_value(version)));
  put("/debug/chain", false, std::make_shared<LiveText>(std::move(chain_json)));
}

}  // namespace backplane
