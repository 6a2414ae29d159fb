#include "routing/openapi_handlers.hpp"

#include <array>
#include <ctime>
#include <optional>
#include <string>

#include "endpoints/accept.hpp"
#include "endpoints/metered_exchange.hpp"
#include "endpoints/verb_options.hpp"
#include "routing/document.hpp"
#include "routing/openapi.hpp"

namespace backplane {
namespace {

// Clients request …v2@v1.0+protobuf. As in upstream, the type of the response has a dot, because a media type must not contain "@".
constexpr std::string_view kOpenApiV2ProtobufType = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
constexpr std::string_view kOpenApiV3ProtobufType = "application/com.github.proto-openapi.spec.v3.v1.0+protobuf";

// Returns a date such as "Sun, 22 Nov 2026 16:00:00 GMT".
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

// The encoding that the Accept header requests for an OpenAPI document. document_form() returns nullopt if no requested encoding is
// supported.
enum class DocumentForm : unsigned char { kJson, kProtobuf };
std::optional<DocumentForm> document_form(const Exchange& exchange, std::string_view protobuf) {
  // A media type must not contain "@", but clients send it.
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

// The handler of /openapi/v2, in JSON or protobuf.
class OpenApiV2 final : public Document {
 public:
  OpenApiV2(TableRef table, std::shared_ptr<DocumentShelf> shelf)
      : Document(Methods::kAny), table_(std::move(table)), shelf_(std::move(shelf)) {}

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
      // The protobuf document has the hash of the JSON document, because upstream has one ETag for both.
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

// The document of a page is small and rarely requested, so it is generated for each request.
LazyDocument::MadeRef v3_page(const OpenApiPage& page) {
  auto made = std::make_shared<MadeDocument>();
  std::string text = openapi_v3_page(page);
  made->hash = sha512_hex(text);
  made->bytes = SharedBytes(std::move(text));
  return made;
}

// The handler of /openapi/v3: the URLs of the documents. Each URL contains the hash of the document. The hash of a document that was added
// at run time does not require that the document is generated.
class OpenApiV3Index final : public Document {
 public:
  OpenApiV3Index(TableRef table, std::shared_ptr<DocumentShelf> shelf)
      : Document(Methods::kAny), table_(std::move(table)), shelf_(std::move(shelf)) {}

 private:
  Task<void> get(RequestContext& context, Exchange& exchange) override {
    count_document(context, exchange, "openapi/v3", "");
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
      if (!has_openapi_v3(*version)) continue;
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

// The handler of a document below /openapi/v3/, in JSON or protobuf. If the parameter "hash" is the current hash, the response may be
// cached for a year. If the parameter is another hash, the response is a redirect.
class OpenApiV3 : public Document {
 public:
  explicit OpenApiV3(std::string name) : Document(Methods::kAny), name_(std::move(name)) {}

 protected:
  virtual Task<LazyDocument::MadeRef> make() = 0;

 private:
  Task<void> get(RequestContext& context, Exchange& exchange) final {
    count_document(context, exchange, "openapi/v3/", "");
    const auto form = document_form(exchange, kOpenApiV3ProtobufType);
    if (!form) {
      co_await refuse_form(exchange);
      co_return;
    }
    exchange.set_compressible(true);
    auto making = make();
    LazyDocument::MadeRef made = co_await std::move(making);
    const std::string_view hash = query_get(context.info.query, "hash");
    if (!hash.empty() && hash != made->hash) {
      co_await send_on(exchange, *made);
      co_return;
    }
    if (!hash.empty()) set_immutable_cache_headers(exchange);
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

  static void set_immutable_cache_headers(Exchange& exchange) {
    exchange.set_response_header("Cache-Control", "public, immutable");
    exchange.set_response_header("Expires", date_text(std::time(nullptr) + 365 * 24 * 3600, "UTC"));
  }

  std::string name_;
};

// The handler of /openapi/v3/apis/GROUP/VERSION.
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

// The handler of /openapi/v3/apis/GROUP, /openapi/v3/version …
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
 public:
  NoSuchDocument() : Document(Methods::kAny) {}

 private:
  Task<void> get(RequestContext&, Exchange& exchange) override { co_await exchange.respond(404, "", {}); }
};

}  // namespace

std::shared_ptr<HttpHandler> openapi_v2_handler(TableRef table, std::shared_ptr<DocumentShelf> shelf) {
  return std::make_shared<OpenApiV2>(std::move(table), std::move(shelf));
}

std::shared_ptr<HttpHandler> openapi_v3_index_handler(TableRef table, std::shared_ptr<DocumentShelf> shelf) {
  return std::make_shared<OpenApiV3Index>(std::move(table), std::move(shelf));
}

std::shared_ptr<HttpHandler> openapi_v3_handler(const RouteTable& routes, std::shared_ptr<DocumentShelf> shelf, std::string_view rest) {
  VersionRef version;
  if (rest.starts_with("api/")) {
    version = routes.find_shared("", rest.substr(4));
  } else if (const auto slash = rest.rfind('/'); rest.starts_with("apis/") && slash > 5) {
    version = routes.find_shared(rest.substr(5, slash - 5), rest.substr(slash + 1));
  }
  if (version && has_openapi_v3(*version)) return std::make_shared<OpenApiV3Version>(std::move(version), std::move(shelf));
  for (OpenApiPage& page : openapi_pages(routes)) {
    if (page.name() == rest) return std::make_shared<OpenApiV3Page>(std::move(page));
  }
  return std::make_shared<NoSuchDocument>();
}

}  // namespace backplane
