#include "routing/root_handlers.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <boost/algorithm/string/trim.hpp>
#include <ctime>
#include <set>

#include "backplane/codec.hpp"
#include "endpoints/accept.hpp"
#include "endpoints/resource_handler.hpp"
#include "endpoints/verb_options.hpp"
#include "routing/discovery.hpp"
#include "routing/openapi.hpp"
#include "routing/version.hpp"

namespace backplane {
namespace {

constexpr std::string_view kAggregatedWords = ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
// Clients ask for …v2@v1.0+protobuf; an "@" is no media type, so the answer is named with a dot, as upstream names it.
constexpr std::string_view kOpenApiV2ProtobufType = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
constexpr std::string_view kOpenApiV3ProtobufType = "application/com.github.proto-openapi.spec.v3.v1.0+protobuf";

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

// `kind`: of the value, where that has a form in protobuf.
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

// Sends a kept document with its ETag, or 304 when the client has it.
Task<void> send_kept(Exchange& exchange, LazyDocument::MadeRef made, std::string content_type) {
  const std::string etag = "\"" + made->hash + "\"";
  exchange.set_response_header("ETag", etag);
  exchange.add_response_header("Vary", "Accept");
  if (exchange.header("if-none-match") == etag) {
    co_await exchange.respond(304, "", {});
    co_return;
  }
  std::vector<SharedBytes> body;
  body.push_back(made->bytes);
  co_await exchange.respond(200, content_type, std::move(body));
}

bool is_ip(const std::string& text) {
  std::array<unsigned char, 16> bytes{};
  return inet_pton(text.find(':') == std::string::npos ? AF_INET : AF_INET6, text.c_str(), bytes.data()) == 1;
}

// What a proxy says of its client, else the peer of the connection.  Good for nothing that needs trust.
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

// /api and /apis: legacy or aggregated, by the Accept header.
class DiscoveryRoot final : public Document {
 public:
  DiscoveryRoot(TableRef table, const DocumentContext& context, bool core)
      : Document(core ? Methods::kGet : Methods::kAny),
        table_(std::move(table)),
        shelf_(context.shelf),
        addresses_(context.addresses),
        core_(core) {}

 private:
  Task<void> get(RequestContext& context, Exchange& exchange) override {
    const DiscoveryForm form = discovery_form(exchange.header("accept"));
    if (form == DiscoveryForm::kNotAcceptable) {
      co_await write_status(context, exchange, not_acceptable());
    } else if (form != DiscoveryForm::kLegacy) {
      co_await send_aggregated(exchange, form == DiscoveryForm::kAggregatedProtobuf);
    } else {
      Value value;
      const std::string client = client_ip(exchange);
      auto making = run_blocking(
          [this, &value, &client] { value = core_ ? legacy_api_versions(*table_, addresses_(client)) : legacy_group_list(*table_); });
      co_await std::move(making);
      co_await write_value(context, exchange, 200, value, discovery_schema(core_ ? "APIVersions" : "APIGroupList"));
    }
  }
  // In protobuf with the JSON's hash, as upstream has one ETag for both.
  Task<void> send_aggregated(Exchange& exchange, bool protobuf) {
    const LazyDocument& document = core_ ? table_->aggregated_api : table_->aggregated_apis;
    auto making = document.get(shelf_, [this] { return aggregated_discovery(*table_, core_); });
    LazyDocument::MadeRef made = co_await std::move(making);
    if (protobuf) {
      const LazyDocument& encoded = core_ ? table_->aggregated_api_proto : table_->aggregated_apis_proto;
      auto encoding = encoded.get(
          shelf_, [text = made] { return aggregated_protobuf(text->bytes.view()); }, made->hash);
      made = co_await std::move(encoding);
    }
    table_.reset();
    const std::string_view type = protobuf ? protobuf_codec().media_type() : json_codec().media_type();
    std::string content_type(type);
    content_type.append(kAggregatedWords);
    co_await send_kept(exchange, std::move(made), std::move(content_type));
  }
  TableRef table_;
  std::shared_ptr<DocumentShelf> shelf_;
  ServerAddresses addresses_;
  bool core_;
};

// "Sun, 22 Nov 2026 16:00:00 GMT".
std::string date_text(std::time_t time, std::string_view zone) {
  std::tm parts{};
  gmtime_r(&time, &parts);
  std::array<char, 40> text{};
  std::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S ", &parts);
  return std::string(text.data()).append(zone);
}

Task<void> send_openapi(Exchange& exchange, LazyDocument::MadeRef made, std::string_view content_type) {
  exchange.set_response_header("Last-Modified", date_text(made->made, "GMT"));
  auto sending = send_kept(exchange, std::move(made), std::string(content_type));
  co_await std::move(sending);
}

// Which form of an OpenAPI document Accept asks for; nothing: of none that there is.
enum class DocumentForm : unsigned char { kJson, kProtobuf };
std::optional<DocumentForm> document_form(const Exchange& exchange, std::string_view protobuf) {
  // An "@" is no part of a media type, but clients ask with one.
  std::string old(protobuf);
  old.replace(old.find(".v1.0"), 1, "@");
  const std::string_view accept = exchange.header("accept");
  if (accept.empty()) return DocumentForm::kJson;
  for (const endpoints::AcceptClause& clause : endpoints::parse_accept(accept)) {
    if (clause.type != "*" && clause.type != "application") continue;
    if (clause.subtype == "*" || clause.subtype == "json") return DocumentForm::kJson;
    const std::string type = "application/" + std::string(clause.subtype);
    if (type == protobuf || type == old) return DocumentForm::kProtobuf;
  }
  return std::nullopt;
}

Task<void> refuse_form(Exchange& exchange) {
  exchange.add_response_header("Vary", "Accept");
  co_await exchange.respond(406, "", {});
}

// /openapi/v2 in JSON or protobuf.
class OpenApiV2 final : public Document {
 public:
  OpenApiV2(TableRef table, std::shared_ptr<DocumentShelf> shelf) : table_(std::move(table)), shelf_(std::move(shelf)) {}

 private:
  Task<void> get(RequestContext&, Exchange& exchange) override {
    const auto form = document_form(exchange, kOpenApiV2ProtobufType);
    if (!form) {
      co_await refuse_form(exchange);
      co_return;
    }
    auto making = table_->openapi_v2.get(shelf_, [this] { return openapi_v2_document(*table_); });
    LazyDocument::MadeRef made = co_await std::move(making);
    exchange.set_compressible(true);
    std::string_view type = "application/json";
    if (form == DocumentForm::kProtobuf) {
      // With the JSON's hash, as upstream has one ETag for both.
      auto encoding = table_->openapi_v2_proto.get(
          shelf_, [text = made] { return openapi_v2_protobuf(text->bytes.view()); }, made->hash);
      made = co_await std::move(encoding);
      type = kOpenApiV2ProtobufType;
    }
    table_.reset();
    co_await send_openapi(exchange, std::move(made), type);
  }
  TableRef table_;
  std::shared_ptr<DocumentShelf> shelf_;
};

Task<LazyDocument::MadeRef> v3_document(const VersionTable& version, std::shared_ptr<DocumentShelf> shelf) {
  auto making = version.openapi_v3.get(
      std::move(shelf), [&version] { return openapi_v3_document(version); }, openapi_v3_hash(version));
  co_return co_await std::move(making);
}

std::string v3_path(const GroupVersion& version) { return version.path().substr(1); }

std::string v3_url(const std::string& name, const std::string& hash) { return "/openapi/v3/" + name + "?hash=" + hash; }

// A document that is small and seldom asked for: made each time.
LazyDocument::MadeRef v3_page(const OpenApiPage& page) {
  auto made = std::make_shared<MadeDocument>();
  std::string text = openapi_v3_page(page);
  made->hash = sha512_hex(text);
  made->bytes = SharedBytes(std::move(text));
  return made;
}

// /openapi/v3: where the documents are, and what stands for their contents.  What came at run time says that without being made.
class OpenApiV3Index final : public Document {
 public:
  OpenApiV3Index(TableRef table, std::shared_ptr<DocumentShelf> shelf) : table_(std::move(table)), shelf_(std::move(shelf)) {}

 private:
  Task<void> get(RequestContext&, Exchange& exchange) override {
    exchange.set_compressible(true);
    for (const VersionTable* version : table_->versions()) {
      if (version->dynamic || version->forward || !version->openapi_v3.hash().empty()) continue;
      auto making = v3_document(*version, shelf_);
      co_await std::move(making);
    }
    auto indexing = table_->openapi_v3_index.get(shelf_, [this] { return make_index(); });
    LazyDocument::MadeRef index = co_await std::move(indexing);
    table_.reset();
    co_await send_openapi(exchange, std::move(index), "application/json");
  }
  static std::string hash_of(const VersionTable& version) {
    std::string hash = version.openapi_v3.hash();
    if (hash.empty()) hash = openapi_v3_hash(version);
    return hash.empty() ? sha512_hex(openapi_v3_document(version)) : hash;
  }
  std::string make_index() const {
    std::map<std::string, std::string> urls;
    for (const OpenApiPage& page : openapi_pages(*table_)) urls[page.name()] = v3_url(page.name(), v3_page(page)->hash);
    for (const VersionTable* version : table_->versions()) {
      if (version->forward) continue;
      const std::string path = v3_path(version->version);
      urls[path] = v3_url(path, hash_of(*version));
    }
    Object paths;
    for (const auto& [path, url] : urls) paths[path] = Object{{"serverRelativeURL", url}};
    return to_json(Object{{"paths", std::move(paths)}});
  }

  TableRef table_;
  std::shared_ptr<DocumentShelf> shelf_;
};

// One document below /openapi/v3/, in JSON or protobuf.  Who asks with the right hash may keep it; with another, is sent on.
class OpenApiV3 : public Document {
 public:
  explicit OpenApiV3(std::string name) : name_(std::move(name)) {}

 protected:
  virtual Task<LazyDocument::MadeRef> make() = 0;

 private:
  Task<void> get(RequestContext&, Exchange& exchange) final {
    const auto form = document_form(exchange, kOpenApiV3ProtobufType);
    if (!form) {
      co_await refuse_form(exchange);
      co_return;
    }
    exchange.set_compressible(true);
    auto making = make();
    LazyDocument::MadeRef made = co_await std::move(making);
    const Query query = endpoints::request_query(exchange);
    const std::string_view hash = query_get(query, "hash");
    if (!hash.empty() && hash != made->hash) {
      co_await send_on(exchange, *made);
      co_return;
    }
    if (!hash.empty()) keep_for_a_year(exchange);
    if (form == DocumentForm::kJson) {
      co_await send_openapi(exchange, std::move(made), "application/json");
      co_return;
    }
    auto encoded = std::make_shared<MadeDocument>();
    encoded->hash = made->hash;
    encoded->made = made->made;
    auto encoding = run_blocking([&] { encoded->bytes = SharedBytes(openapi_v3_protobuf(made->bytes.view())); });
    co_await std::move(encoding);
    co_await send_openapi(exchange, std::move(encoded), kOpenApiV3ProtobufType);
  }

  Task<void> send_on(Exchange& exchange, const MadeDocument& made) const {
    const std::string url = v3_url(name_, made.hash);
    exchange.set_response_header("Location", url);
    exchange.set_response_header("ETag", "\"" + made.hash + "\"");
    exchange.add_response_header("Vary", "Accept");
    std::vector<SharedBytes> body;
    body.emplace_back("<a href=\"" + url + "\">Moved Permanently</a>.\n\n");
    co_await exchange.respond(301, "text/html; charset=utf-8", std::move(body));
  }

  static void keep_for_a_year(Exchange& exchange) {
    exchange.set_response_header("Cache-Control", "public, immutable");
    exchange.set_response_header("Expires", date_text(std::time(nullptr) + 365 * 24 * 3600, "UTC"));
  }

  std::string name_;
};

// /openapi/v3/apis/GROUP/VERSION.
class OpenApiV3Version final : public OpenApiV3 {
 public:
  OpenApiV3Version(VersionRef version, std::shared_ptr<DocumentShelf> shelf)
      : OpenApiV3(v3_path(version->version)), version_(std::move(version)), shelf_(std::move(shelf)) {}

 private:
  Task<LazyDocument::MadeRef> make() override {
    const VersionRef version = std::move(version_);
    auto making = v3_document(*version, shelf_);
    co_return co_await std::move(making);
  }
  VersionRef version_;
  std::shared_ptr<DocumentShelf> shelf_;
};

// /openapi/v3/apis/GROUP, /openapi/v3/version, …
class OpenApiV3Page final : public OpenApiV3 {
 public:
  explicit OpenApiV3Page(OpenApiPage page) : OpenApiV3(page.name()), page_(std::move(page)) {}

 private:
  Task<LazyDocument::MadeRef> make() override {
    LazyDocument::MadeRef made;
    auto making = run_blocking([this, &made] { made = v3_page(page_); });
    co_await std::move(making);
    co_return made;
  }
  OpenApiPage page_;
};

class NoSuchDocument final : public Document {
  Task<void> get(RequestContext&, Exchange& exchange) override { co_await exchange.respond(404, "", {}); }
};

// Always the same answer.
class Answer final : public HttpHandler {
 public:
  explicit Answer(Status status) : status_(std::move(status)) {}
  Task<void> handle(RequestContext& context, Exchange& exchange) override { co_await write_status(context, exchange, status_); }

 private:
  Status status_;
};

// notfoundhandler: while paths are still being installed a client is told to come back, later the plain text of net/http.
class NoSuchPage final : public HttpHandler {
 public:
  Task<void> handle(RequestContext& context, Exchange& exchange) override {
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

VersionRef version_of(const RouteTable& routes, std::string_view group, std::string_view version) {
  const GroupEntry* entry = routes.group(group);
  if (entry == nullptr) return nullptr;
  for (const VersionRef& each : entry->versions) {
    if (each->version.version == version) return each;
  }
  return nullptr;
}

Handler version_document(VersionRef version) {
  if (!version || version->forward) return version ? version->forward : nullptr;
  const Methods methods = version->dynamic ? Methods::kAny : Methods::kGet;
  return std::make_shared<ValueDocument>([version] { return legacy_resource_list(*version); }, methods, "APIResourceList");
}

Handler group_document(GroupRef group) {
  const Methods methods = group->of_front ? Methods::kGet : Methods::kAny;
  return std::make_shared<ValueDocument>([group] { return legacy_group(*group); }, methods, "APIGroup");
}

// What follows "/apis/": GROUP or GROUP/VERSION.
Handler below_apis(const RouteTable& routes, std::string_view rest) {
  const auto slash = rest.find('/');
  const GroupRef* group = rest.empty() || slash == 0 ? nullptr : routes.groups.find(rest.substr(0, slash));
  if (group == nullptr) return nullptr;
  if (slash == std::string_view::npos) return group_document(*group);
  return version_document(version_of(routes, rest.substr(0, slash), rest.substr(slash + 1)));
}

// What follows "/openapi/v3/": api/VERSION or apis/GROUP/VERSION, or the path of another document.
Handler below_openapi_v3(const RouteTable& routes, const DocumentContext& context, std::string_view rest) {
  VersionRef version;
  if (rest.starts_with("api/")) {
    version = version_of(routes, "", rest.substr(4));
  } else if (const auto slash = rest.rfind('/'); rest.starts_with("apis/") && slash > 5) {
    version = version_of(routes, rest.substr(5, slash - 5), rest.substr(slash + 1));
  }
  if (version && !version->forward) return std::make_shared<OpenApiV3Version>(std::move(version), context.shelf);
  for (OpenApiPage& page : openapi_pages(routes)) {
    if (page.name() == rest) return std::make_shared<OpenApiV3Page>(std::move(page));
  }
  return std::make_shared<NoSuchDocument>();
}

}  // namespace

Handler find_document(const TableRef& routes, const DocumentContext& context, std::string_view path) {
  constexpr std::string_view kApis = "/apis/";
  constexpr std::string_view kOpenApiV3 = "/openapi/v3/";
  if (path == "/")
    return std::make_shared<ValueDocument>([routes, published = &context.published] { return index_value(*routes, published->listed()); });
  if (path == "/api" && routes->group("")) return std::make_shared<DiscoveryRoot>(routes, context, true);
  if (path == "/apis") return std::make_shared<DiscoveryRoot>(routes, context, false);
  if (path == "/openapi/v2") return std::make_shared<OpenApiV2>(routes, context.shelf);
  if (path == "/openapi/v3") return std::make_shared<OpenApiV3Index>(routes, context.shelf);
  if (path.starts_with("/api/")) return version_document(version_of(*routes, "", path.substr(5)));
  if (path.starts_with(kApis)) return below_apis(*routes, path.substr(kApis.size()));
  if (path.starts_with(kOpenApiV3) && path.size() > kOpenApiV3.size())
    return below_openapi_v3(*routes, context, path.substr(kOpenApiV3.size()));
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
    scope.authorizer = config.authorizer;
    scope.admission = config.admission;
    scope.min_request_timeout = config.min_request_timeout;
    scope.max_body_bytes = config.max_body_bytes;
    scope.shutting_down = config.shutting_down;
    scope.watches = watches;
    scope.scheme = scheme;
    return make_resource_handler(std::move(scope));
  };
}

void add_root_paths(FixedPaths& paths, std::function<std::string()> chain_json) {
  const auto put = [&paths](const std::string& path, bool listed, Handler handler) {
    paths.exact.emplace(path, PathRow{PathRoute{path, false, listed, std::move(handler)}, "backplane"});
  };
  put("/version", true, std::make_shared<ValueDocument>(version_value));
  put("/debug/chain", false, std::make_shared<LiveText>(std::move(chain_json)));
}

}  // namespace backplane
