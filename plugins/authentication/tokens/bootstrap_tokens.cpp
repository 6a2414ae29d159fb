#include "tokens/bootstrap_tokens.hpp"

#include <openssl/crypto.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/types/base64.hpp"

namespace backplane::authentication {
namespace {

constexpr std::string_view kType = "bootstrap.kubernetes.io/token";
constexpr std::size_t kIdSize = 6, kSecretSize = 16;

bool of_digits(std::string_view text, std::string_view more = {}) {
  return std::all_of(text.begin(), text.end(),
                     [more](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || more.find(c) != std::string_view::npos; });
}

// Matches \A([a-z0-9]{6})\.([a-z0-9]{16})\z
bool is_bootstrap_token(std::string_view token) {
  return token.size() == kIdSize + 1 + kSecretSize && token[kIdSize] == '.' && of_digits(token.substr(0, kIdSize)) &&
         of_digits(token.substr(kIdSize + 1));
}

// Matches \Asystem:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]\z
bool is_bootstrap_group(std::string_view group) {
  constexpr std::string_view kPrefix = "system:bootstrappers:";
  if (!group.starts_with(kPrefix)) return false;
  const std::string_view rest = group.substr(kPrefix.size());
  return !rest.empty() && rest.size() <= 256 && of_digits(rest, ":-") && of_digits(rest.substr(rest.size() - 1));
}

std::string secret_data(const Object& secret, std::string_view key) {
  return from_base64(get_string(object_or_empty(secret, "data"), key)).value_or("");
}

bool same_secret(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

Result<std::vector<std::string>> groups_of(const Object& secret) {
  std::set<std::string> groups{"system:bootstrappers"};
  const std::string more = secret_data(secret, "auth-extra-groups");
  for (std::size_t begin = 0; !more.empty() && begin <= more.size();) {
    const auto end = std::min(more.find(',', begin), more.size());
    std::string group = more.substr(begin, end - begin);
    if (!is_bootstrap_group(group)) return bad_request("has invalid value for key auth-extra-groups");
    groups.insert(std::move(group));
    begin = end + 1;
  }
  return std::vector<std::string>(groups.begin(), groups.end());
}

bool has_expired(const Object& secret, std::int64_t now_unix) {
  const std::string text = secret_data(secret, "expiration");
  if (text.empty()) return false;
  const auto time = parse_rfc3339(text);
  return !time || *time <= now_unix;
}

}  // namespace

Result<UserInfo> bootstrap_user(const Object& secret, std::string_view id, std::string_view value, std::int64_t now_unix) {
  if (!meta_text(secret, "deletionTimestamp").empty()) return bad_request("is deleted and awaiting removal");
  if (get_string(secret, "type") != kType) return bad_request("has invalid type, expected " + std::string(kType) + ".");
  if (!same_secret(secret_data(secret, "token-secret"), value)) return bad_request("has invalid value for key token-secret.");
  if (secret_data(secret, "token-id") != id) return bad_request("has invalid value for key token-id.");
  if (has_expired(secret, now_unix)) return bad_request("has expired");
  if (secret_data(secret, "usage-bootstrap-authentication") != "true")
    return bad_request("not marked usage-bootstrap-authentication=true.");
  auto groups = groups_of(secret);
  if (!groups.ok()) return std::move(groups).status();
  UserInfo out;
  out.name = "system:bootstrap:" + std::string(id);
  out.groups = std::move(*groups);
  return out;
}

Task<AuthenticationResult> BootstrapTokens::authenticate(std::string token, std::vector<std::string>, TokenNotes&) {
  if (!is_bootstrap_token(token)) co_return std::optional<AuthenticationResponse>();
  const std::string id = token.substr(0, kIdSize), name = "bootstrap-token-" + id;
  auto secret = co_await objects_->get("secrets", "kube-system", name);
  if (!secret.ok() && secret.status().reason() == Reason::kNotFound) co_return std::optional<AuthenticationResponse>();
  if (!secret.ok()) co_return std::move(secret).status();
  const auto now = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  auto user = bootstrap_user(*secret, id, std::string_view(token).substr(kIdSize + 1), now);
  if (!user.ok()) {
    logger_.debug("bootstrap secret kube-system/" + name + " matching bearer token " + user.status().message());
    co_return std::optional<AuthenticationResponse>();
  }
  AuthenticationResponse response;
  response.user = std::move(*user);
  co_return std::optional<AuthenticationResponse>(std::move(response));
}

}  // namespace backplane::authentication
