#include "security/authentication.hpp"

#include <algorithm>

#include "security/log.hpp"
#include "security/users.hpp"
#include "security/x509.hpp"

namespace backplane {
namespace {

bool starts_with_no_case(std::string_view text, std::string_view lower_prefix) {
  if (text.size() < lower_prefix.size()) return false;
  return std::equal(lower_prefix.begin(), lower_prefix.end(), text.begin(),
                    [](char a, char b) { return a == (b >= 'A' && b <= 'Z' ? static_cast<char>(b - 'A' + 'a') : b); });
}

// A token that nobody knows is a bad credential, not the absence of one.
bool carries_token(const Exchange& exchange) {
  std::string_view value = exchange.header("authorization");
  if (!starts_with_no_case(value, "bearer ")) return false;
  return value.find_first_not_of(' ', 7) != std::string_view::npos;
}

// Upstream's group adder: everybody who proved who they are, anonymous left out.
UserInfo with_authenticated_group(UserInfo user) {
  if (user.name == kAnonymousUser) return user;
  for (const auto& group : user.groups) {
    if (group == kAuthenticatedGroup || group == kUnauthenticatedGroup) return user;
  }
  user.groups.emplace_back(kAuthenticatedGroup);
  return user;
}

}  // namespace

Result<UserInfo> UnionAuthentication::without_credentials(const Exchange& exchange) const {
  if (carries_token(exchange) || !config_.anonymous) return unauthorized();
  return anonymous_user();
}

std::optional<Result<UserInfo>> UnionAuthentication::authenticate_now(RequestContext&, Exchange& exchange) const {
  auto certificate = user_of_certificate(exchange);
  if (certificate.ok() && certificate->has_value()) return Result<UserInfo>(with_authenticated_group(std::move(**certificate)));
  // A plugin may still know the caller by another credential, even when the certificate was no good.
  if (!config_.plugins.empty()) return std::nullopt;
  if (!certificate.ok()) return Result<UserInfo>(std::move(certificate.status()));
  return without_credentials(exchange);
}

Task<Result<UserInfo>> UnionAuthentication::authenticate(RequestContext& context, Exchange& exchange) const {
  auto certificate = user_of_certificate(exchange);
  bool bad_credential = !certificate.ok();
  if (!bad_credential && certificate->has_value()) co_return with_authenticated_group(std::move(**certificate));
  for (const auto& plugin : config_.plugins) {
    auto found = co_await plugin->authenticate(context, exchange);
    if (!found.ok()) {
      security_log().debug("authenticator refused a credential authenticator={} error={}", plugin->name(), found.status().message());
      bad_credential = true;
      continue;
    }
    if (found->has_value()) co_return with_authenticated_group(std::move(**found));
  }
  if (bad_credential) co_return unauthorized();
  co_return without_credentials(exchange);
}

}  // namespace backplane
