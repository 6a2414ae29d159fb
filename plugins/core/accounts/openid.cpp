#include "accounts/openid.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>

#include "backplane/core/request.hpp"
#include "backplane/kit/jose_key.hpp"
#include "backplane/points/paths.hpp"

namespace backplane::core {
namespace {

constexpr std::string_view kConfigurationPath = "/.well-known/openid-configuration", kKeysPath = "/openid/v1/jwks";
constexpr std::string_view kConfigurationType = "application/json", kKeysType = "application/jwk-set+json";
constexpr int kCacheSeconds = 3600;

// The body of a response, and the number of seconds for which clients may cache it.
struct DocumentText {
  SharedBytes text;
  int seconds = kCacheSeconds;
};

class Document final : public HttpHandler {
 public:
  Document(std::string_view type, std::function<Result<DocumentText>()> text) : type_(type), text_(std::move(text)) {}

  Task<void> handle(RequestContext&, Exchange& exchange) override {
    std::vector<SharedBytes> body;
    if (exchange.method() != "GET") {
      exchange.set_response_header("Allow", "GET");
      body.emplace_back("405: Method Not Allowed");
      co_await exchange.respond(405, "text/plain; charset=utf-8", std::move(body));
      co_return;
    }
    auto found = text_();
    if (!found.ok()) {
      body.emplace_back(SharedBytes("503: " + found.status().message()));
      co_await exchange.respond(503, "text/plain; charset=utf-8", std::move(body));
      co_return;
    }
    exchange.set_response_header("Cache-Control", "public, max-age=" + std::to_string(found->seconds));
    body.push_back(std::move(found->text));
    co_await exchange.respond(200, type_, std::move(body));
  }

 private:
  const std::string type_;
  const std::function<Result<DocumentText>()> text_;
};

std::vector<std::string> words_of(const std::optional<std::string>& list) {
  std::vector<std::string> out;
  const std::string text = list.value_or("");
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = std::min(text.find(',', begin), text.size());
    if (end > begin) out.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

// Returns the keys of --service-account-key-file. If that flag is empty, returns those of --service-account-signing-key-file.
Result<std::vector<Object>> keys_of(const Host& host) {
  std::vector<std::string> files = words_of(host.flag("service-account-key-file"));
  if (files.empty()) files = words_of(host.flag("service-account-signing-key-file"));
  std::vector<Object> out;
  for (const std::string& path : files) {
    std::ifstream file(path, std::ios::binary);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    const auto keys = kit::PublicKey::all_in_pem(text);
    if (keys.empty()) return internal_error("service account tokens: " + path + " holds no key");
    for (const kit::PublicKey& key : keys) out.push_back(key.jwk());
  }
  return out;
}

std::string keys_uri_of(const Host& host) {
  std::string given = host.flag("service-account-jwks-uri").value_or("");
  if (!given.empty()) return given;
  std::string address = host.flag("external-hostname").value_or("");
  if (address.empty()) address = host.flag("advertise-address").value_or("");
  const bool has_port = address.find(':') != std::string::npos && address.find(':') == address.rfind(':');
  if (!has_port && address.find(':') != std::string::npos && !address.starts_with('[')) address = "[" + address + "]";
  if (!has_port) address += ":" + host.flag("secure-port").value_or("6443");
  return "https://" + address + std::string(kKeysPath);
}

Status add_documents(Host& host, std::function<Result<DocumentText>()> configuration, std::function<Result<DocumentText>()> keys) {
  Status status =
      host.handle({std::string(kConfigurationPath), false, true, std::make_shared<Document>(kConfigurationType, std::move(configuration))});
  if (!status.ok()) return status;
  return host.handle({std::string(kKeysPath), false, true, std::make_shared<Document>(kKeysType, std::move(keys))});
}

// Registers documents that contain the current keys of the external signer. Clients may cache them until the signer's keys are refreshed.
Status add_external_paths(Host& host, const std::string& issuer, const std::shared_ptr<kit::ExternalSigner>& signer) {
  const std::string uri = keys_uri_of(host);
  const auto text_of = [issuer, uri, signer](std::string OpenIdDocuments::*member) -> Result<DocumentText> {
    const kit::ExternalSigner::KeysRef keys = signer->keys();
    auto documents = openid_documents(issuer, uri, keys->published);
    if (!documents.ok()) return std::move(documents).status();
    const auto left = std::chrono::duration_cast<std::chrono::seconds>(keys->refresh - std::chrono::steady_clock::now());
    return DocumentText{SharedBytes(std::move((*documents).*member)), static_cast<int>(std::max<std::int64_t>(left.count(), 0))};
  };
  return add_documents(
      host, [text_of] { return text_of(&OpenIdDocuments::configuration); }, [text_of] { return text_of(&OpenIdDocuments::keys); });
}

}  // namespace

Result<OpenIdDocuments> openid_documents(const std::string& issuer, const std::string& keys_uri, std::vector<Object> keys) {
  if (!issuer.starts_with("https://")) return bad_request("issuer URL must use https scheme, got: " + issuer);
  if (issuer.find('?') != std::string::npos) return bad_request("issuer URL may not include a query, got: " + issuer);
  if (issuer.find('#') != std::string::npos) return bad_request("issuer URL may not include a fragment, got: " + issuer);
  if (keys.empty()) return bad_request("no keys provided for validating keyset");
  std::set<std::string> algorithms;
  Array list;
  for (Object& key : keys) {
    algorithms.emplace(get_string(key, "alg"));
    list.emplace_back(std::move(key));
  }
  Object configuration{{"issuer", issuer}, {"jwks_uri", keys_uri}, {"response_types_supported", Array{"id_token"}}};
  configuration["subject_types_supported"] = Array{"public"};
  configuration["id_token_signing_alg_values_supported"] = Array(algorithms.begin(), algorithms.end());
  OpenIdDocuments out;
  out.configuration = to_json(configuration);
  out.keys = to_json(Object{{"keys", std::move(list)}});
  return out;
}

Status add_openid_paths(Host& host, const std::shared_ptr<kit::ExternalSigner>& external) {
  const auto issuers = words_of(host.flag("service-account-issuer"));
  if (issuers.empty()) return {};
  if (external != nullptr) return add_external_paths(host, issuers.front(), external);
  auto keys = keys_of(host);
  if (!keys.ok()) return std::move(keys).status();
  auto documents = openid_documents(issuers.front(), keys_uri_of(host), std::move(*keys));
  if (!documents.ok()) {
    host.logger().info("publishing the keys of service account tokens failed: " + documents.status().message());
    return {};
  }
  const SharedBytes configuration(std::move(documents->configuration)), key_set(std::move(documents->keys));
  return add_documents(
      host, [configuration] { return Result<DocumentText>(DocumentText{configuration}); },
      [key_set] { return Result<DocumentText>(DocumentText{key_set}); });
}

}  // namespace backplane::core
