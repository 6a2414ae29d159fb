#include "remote_documents.hpp"

#include <boost/algorithm/string/predicate.hpp>

#include <backplane/kit/discovery_shapes.hpp>
#include <backplane/net/proxy.hpp>
#include <backplane/types/json_reading.hpp>

#include "openapi_v2_part.hpp"

namespace backplane {
namespace {

constexpr std::chrono::seconds kTime{5};
constexpr std::chrono::seconds kSpecTime{60};  // upstream's specDownloadTimeout
// The maximum size of a document. Documents of a server with hundreds of large types have some MB.
constexpr std::size_t kMaxDocument = std::size_t{16} << 20;
constexpr const char* kAggregated =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;g=apidiscovery.k8s.io;v=v2beta1;"
    "as=APIGroupDiscoveryList";

struct Page {
  int code = 0;
  std::string type;
  std::string etag;
  std::string body;
  Status problem;
};

HttpCall page_call(std::string path, std::string accept) {
  UserInfo aggregator;
  aggregator.name = "system:kube-aggregator";
  aggregator.groups = {"system:masters"};
  HttpCall call;
  call.target = std::move(path);
  call.headers = identity_headers(aggregator);
  call.headers.emplace_back("Accept", std::move(accept));
  call.deadline = std::chrono::steady_clock::now() + kTime;
  return call;
}

// The same request as upstream's downloader: it has the downloader's user, and requests the document only if that has changed.
HttpCall spec_call(const std::string& known_etag) {
  UserInfo aggregator;
  aggregator.name = "system:aggregator";
  HttpCall call;
  call.target = "/openapi/v2";
  call.headers = identity_headers(aggregator);
  call.headers.emplace_back("Accept", "application/json");
  if (!known_etag.empty()) call.headers.emplace_back("If-None-Match", known_etag);
  call.deadline = std::chrono::steady_clock::now() + kSpecTime;
  return call;
}

std::string header_of(const HttpAnswer& answer, std::string_view name) {
  for (const auto& [each, value] : answer.headers()) {
    if (boost::algorithm::iequals(each, name)) return value;
  }
  return {};
}

Task<Page> fetch(std::shared_ptr<HttpClient> client, HttpCall call) {
  Page page;
  auto calling = client->call(std::move(call));
  auto answer = co_await std::move(calling);
  if (!answer.ok()) {
    page.problem = std::move(answer).status();
    co_return page;
  }
  page.code = (*answer)->code();
  page.type = header_of(**answer, "Content-Type");
  page.etag = header_of(**answer, "ETag");
  auto reading = read_all(**answer, kMaxDocument);
  auto body = co_await std::move(reading);
  if (body.ok()) {
    page.body = std::move(*body);
  } else {
    page.problem = std::move(body).status();
  }
  co_return page;
}

std::optional<Object> object_in(const Page& page) {
  if (!page.problem.ok() || page.code != 200) return std::nullopt;
  std::optional<Value> value = read_json(page.body);
  if (!value || !value->is_object()) return std::nullopt;
  return std::move(value->get_object());
}

bool is_aggregated(const Page& page) { return page.type.find("as=APIGroupDiscoveryList") != std::string::npos; }

Status failed(const Page& page, const std::string& path) {
  if (!page.problem.ok()) return page.problem;
  return service_unavailable("failed to download discovery of " + path + ": the server responded with code " + std::to_string(page.code));
}

// The resources of the APIService's group version, from the server's discovery documents.
struct Discovered {
  Array resources;
  Status problem;
};

Task<Discovered> discover(std::shared_ptr<HttpClient> client, GroupVersion version) {
  Discovered out;
  auto asking = fetch(client, page_call("/apis", kAggregated));
  const Page all = co_await std::move(asking);
  if (!all.problem.ok() || all.code == 503) {
    out.problem = failed(all, "/apis");
    co_return out;
  }
  if (is_aggregated(all)) {
    if (const auto list = object_in(all)) {
      if (auto found = kit::aggregated_resources(*list, version)) out.resources = std::move(*found);
      co_return out;
    }
  }
  auto falling_back = fetch(client, page_call(version.path(), "application/json"));
  const Page own = co_await std::move(falling_back);
  const auto list = object_in(own);
  if (list) {
    out.resources = kit::legacy_resources(*list);
  } else {
    out.problem = failed(own, version.path());
  }
  co_return out;
}

// Returns null if the server has no such document.
Task<std::shared_ptr<const std::string>> read_openapi(std::shared_ptr<HttpClient> client, GroupVersion version) {
  auto asking = fetch(client, page_call("/openapi/v3" + version.path(), "application/json"));
  Page page = co_await std::move(asking);
  std::shared_ptr<const std::string> document;
  const auto object = object_in(page);
  if (object && get_string(*object, "openapi").starts_with("3.")) document = std::make_shared<const std::string>(std::move(page.body));
  co_return document;
}

// Reads a server's OpenAPI v2 document. An unchanged document is not sent again. After a 404 the server has no document; after another
// error the former document is retained.
Task<void> read_openapi_v2(std::shared_ptr<HttpClient> client, GroupVersion version, RemoteDocumentsRef before,
                           std::shared_ptr<RemoteDocuments> into) {
  into->openapi_v2 = before->openapi_v2;
  into->openapi_v2_etag = before->openapi_v2_etag;
  auto asking = fetch(client, spec_call(before->openapi_v2_etag));
  const Page page = co_await std::move(asking);
  if (page.problem.ok() && page.code == 404) {
    into->openapi_v2 = nullptr;
    into->openapi_v2_etag.clear();
  }
  const auto document = object_in(page);
  if (!document || get_string(*document, "swagger") != "2.0") co_return;
  const std::string part = to_json(openapi_v2_part(*document, version));
  into->openapi_v2_etag = page.etag;
  if (into->openapi_v2 == nullptr || *into->openapi_v2 != part) into->openapi_v2 = std::make_shared<const std::string>(part);
}

RemoteReading stale(const RemoteDocuments& before, Status problem) {
  auto documents = std::make_shared<RemoteDocuments>(before);
  documents->current = false;
  return {std::move(documents), std::move(problem)};
}

}  // namespace

Task<RemoteReading> read_documents(std::shared_ptr<ProxyState> state, RemoteDocumentsRef before) {
  if (!state->available) co_return stale(*before, service_unavailable("service unavailable"));
  const auto backend = state->backend;
  auto resolving = backend->resolve();
  const Result<std::string> address = co_await std::move(resolving);
  if (!address.ok()) co_return stale(*before, address.status());
  const auto client = backend->counted_client(*address);
  if (!client.ok()) co_return stale(*before, client.status());
  auto discovering = discover(*client, backend->target().version);
  Discovered found = co_await std::move(discovering);
  if (!found.problem.ok()) co_return stale(*before, std::move(found.problem));
  auto documents = std::make_shared<RemoteDocuments>();
  documents->resources = std::move(found.resources);
  documents->current = true;
  auto reading = read_openapi(*client, backend->target().version);
  documents->openapi_v3 = co_await std::move(reading);
  if (documents->openapi_v3 == nullptr) documents->openapi_v3 = before->openapi_v3;
  auto reading_v2 = read_openapi_v2(*client, backend->target().version, before, documents);
  co_await std::move(reading_v2);
  RemoteReading out;
  out.documents = std::move(documents);
  co_return out;
}

namespace {

bool same_text(const std::shared_ptr<const std::string>& left, const std::shared_ptr<const std::string>& right) {
  return left == right || (left != nullptr && right != nullptr && *left == *right);
}

}  // namespace

bool same_documents(const RemoteDocuments& left, const RemoteDocuments& right) {
  return left.current == right.current && left.resources == right.resources && same_text(left.openapi_v3, right.openapi_v3) &&
         same_text(left.openapi_v2, right.openapi_v2);
}

}  // namespace backplane
