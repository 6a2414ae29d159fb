#include "bootstrap/tokens.hpp"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <array>

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/kit/base64url.hpp"
#include "backplane/types/base64.hpp"

namespace backplane::controllers {
namespace {

constexpr std::string_view kNamePrefix = "bootstrap-token-";
constexpr std::size_t kIdSize = 6;

std::string data_of(const Object& secret, std::string_view key) {
  return from_base64(get_string(object_or_empty(secret, "data"), key)).value_or("");
}

bool is_token_id(std::string_view text) {
  const auto allowed = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return text.size() == kIdSize && std::all_of(text.begin(), text.end(), allowed);
}

}  // namespace

std::optional<BootstrapToken> signing_token(const Object& secret, std::int64_t now) {
  if (get_string(secret, "type") != kBootstrapTokenType) return std::nullopt;
  std::string_view name = meta_name(secret);
  if (!name.starts_with(kNamePrefix)) return std::nullopt;
  name.remove_prefix(kNamePrefix.size());
  BootstrapToken out{data_of(secret, "token-id"), data_of(secret, "token-secret")};
  if (!is_token_id(name) || out.id != name || out.secret.empty()) return std::nullopt;
  const auto left = seconds_to_expiry(secret, now);
  if ((left && *left <= 0) || data_of(secret, "usage-bootstrap-signing") != "true") return std::nullopt;
  return out;
}

std::optional<std::int64_t> seconds_to_expiry(const Object& secret, std::int64_t now) {
  const std::string text = data_of(secret, "expiration");
  if (text.empty()) return std::nullopt;
  const auto expires = parse_rfc3339(text);
  return expires ? *expires - now : 0;
}

std::string detached_signature(std::string_view content, const BootstrapToken& token) {
  std::string header = R"({"alg":"HS256","kid":)";
  append_json_string(header, token.id);
  header = kit::to_base64url(header + "}");
  const std::string input = header + "." + kit::to_base64url(content);
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  HMAC(EVP_sha256(), token.secret.data(), static_cast<int>(token.secret.size()), reinterpret_cast<const unsigned char*>(input.data()),
       input.size(), digest.data(), &size);
  return header + ".." + kit::to_base64url(std::string_view(reinterpret_cast<const char*>(digest.data()), size));
}

}  // namespace backplane::controllers
