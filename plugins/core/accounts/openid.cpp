#include "accounts/openid.hpp"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>

#include "accounts/token_signer.hpp"
#include "backplane/core/request.hpp"
#include "backplane/net/openssl_ptr.hpp"
#include "backplane/points/paths.hpp"
#include "backplane/types/base64.hpp"

namespace backplane::core {
namespace {

constexpr std::string_view kConfigurationPath = "/.well-known/openid-configuration", kKeysPath = "/openid/v1/jwks";
constexpr std::string_view kCacheControl = "public, max-age=3600";

struct Curve {
  int bits;
  std::string_view name, algorithm;
};
constexpr Curve kCurves[] = {{256, "P-256", "ES256"}, {384, "P-384", "ES384"}, {521, "P-521", "ES512"}};

std::string url_base64(std::string_view bytes) {
  std::string out = to_base64(bytes);
  while (out.ends_with('=')) out.pop_back();
  for (char& c : out) c = c == '+' ? '-' : c == '/' ? '_' : c;
  return out;
}

// A number of the key in URL-safe base64, at least `size` bytes of it.
std::string number_of(const EVP_PKEY* key, const char* name, int size = 0) {
  BIGNUM* number = nullptr;
  if (EVP_PKEY_get_bn_param(key, name, &number) != 1) return {};
  std::string bytes(static_cast<std::size_t>(std::max(size, BN_num_bytes(number))), '\0');
  BN_bn2binpad(number, reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  BN_free(number);
  return url_base64(bytes);
}

// Empty for a key of a kind that signs no tokens.
Object jwk_of(EVP_PKEY* key) {
  Object out;
  if (EVP_PKEY_get_base_id(key) == EVP_PKEY_RSA) {
    out = Object{{"use", "sig"}, {"kty", "RSA"}, {"kid", key_id_of(key)}, {"alg", "RS256"}};
    out["n"] = number_of(key, OSSL_PKEY_PARAM_RSA_N);
    out["e"] = number_of(key, OSSL_PKEY_PARAM_RSA_E);
  }
  if (EVP_PKEY_get_base_id(key) != EVP_PKEY_EC) return out;
  for (const Curve& curve : kCurves) {
    if (curve.bits != EVP_PKEY_get_bits(key)) continue;
    const int size = (curve.bits + 7) / 8;
    out = Object{{"use", "sig"}, {"kty", "EC"}, {"kid", key_id_of(key)}, {"crv", curve.name}, {"alg", curve.algorithm}};
    out["x"] = number_of(key, OSSL_PKEY_PARAM_EC_PUB_X, size);
    out["y"] = number_of(key, OSSL_PKEY_PARAM_EC_PUB_Y, size);
  }
  return out;
}

// The key of one PEM block.
KeyPtr read_key(const std::string& block) {
  KeyPtr key(PEM_read_bio_PUBKEY(memory_bio(block).get(), nullptr, no_openssl_password, nullptr));
  if (!key) key.reset(PEM_read_bio_PrivateKey(memory_bio(block).get(), nullptr, no_openssl_password, nullptr));
  if (key) return key;
  const X509Ptr certificate(PEM_read_bio_X509(memory_bio(block).get(), nullptr, no_openssl_password, nullptr));
  if (certificate) key.reset(X509_get_pubkey(certificate.get()));
  return key;
}

class Document final : public HttpHandler {
 public:
  Document(std::string_view type, std::string text) : type_(type), text_(std::move(text)) {}

  Task<void> handle(RequestContext&, Exchange& exchange) override {
    std::vector<SharedBytes> body;
    if (exchange.method() != "GET") {
      exchange.set_response_header("Allow", "GET");
      body.emplace_back("405: Method Not Allowed");
      co_await exchange.respond(405, "text/plain; charset=utf-8", std::move(body));
      co_return;
    }
    exchange.set_response_header("Cache-Control", std::string(kCacheControl));
    body.push_back(text_);
    co_await exchange.respond(200, type_, std::move(body));
  }

 private:
  const std::string type_;
  const SharedBytes text_;
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

// Those that tokens are verified by; where none are named, the one that they are signed with.
Result<std::vector<Object>> keys_of(const Host& host) {
  std::vector<std::string> files = words_of(host.flag("service-account-key-file"));
  if (files.empty()) files = words_of(host.flag("service-account-signing-key-file"));
  std::vector<Object> out;
  for (const std::string& path : files) {
    std::ifstream file(path, std::ios::binary);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    auto keys = public_keys(text);
    if (keys.empty()) return internal_error("service account tokens: " + path + " holds no key");
    out.insert(out.end(), std::make_move_iterator(keys.begin()), std::make_move_iterator(keys.end()));
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

}  // namespace

std::vector<Object> public_keys(std::string_view pem) {
  std::vector<Object> out;
  constexpr std::string_view kBegin = "-----BEGIN ", kEnd = "-----END ";
  for (auto begin = pem.find(kBegin); begin != std::string_view::npos; begin = pem.find(kBegin, begin + 1)) {
    const auto end = pem.find(kEnd, begin);
    if (end == std::string_view::npos) break;
    const auto line = std::min(pem.find('\n', end), pem.size());
    const KeyPtr key = read_key(std::string(pem.substr(begin, line - begin)) + "\n");
    Object jwk = key ? jwk_of(key.get()) : Object();
    if (!jwk.empty()) out.push_back(std::move(jwk));
  }
  return out;
}

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

Status add_openid_paths(Host& host) {
  const auto issuers = words_of(host.flag("service-account-issuer"));
  if (issuers.empty()) return {};
  auto keys = keys_of(host);
  if (!keys.ok()) return std::move(keys).status();
  auto documents = openid_documents(issuers.front(), keys_uri_of(host), std::move(*keys));
  if (!documents.ok()) {
    host.logger().info("publishing the keys of service account tokens failed: " + documents.status().message());
    return {};
  }
  Status status = host.handle(
      {std::string(kConfigurationPath), false, true, std::make_shared<Document>("application/json", std::move(documents->configuration))});
  if (!status.ok()) return status;
  return host.handle(
      {std::string(kKeysPath), false, true, std::make_shared<Document>("application/jwk-set+json", std::move(documents->keys))});
}

}  // namespace backplane::core
