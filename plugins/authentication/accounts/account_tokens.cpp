#include "accounts/account_tokens.hpp"

#include "backplane/core/json_access.hpp"
#include "backplane/types/json_reading.hpp"

namespace backplane::authentication {
namespace {

// go-jose's message for a signature that no key verifies.
constexpr std::string_view kBadSignature = "go-jose/go-jose: error in cryptographic primitive";

// Formats a list like Go's %q.
std::string quoted_list(const std::vector<std::string>& texts) {
  std::string out = "[";
  for (const std::string& text : texts) out.append(out.size() > 1 ? " " : "").append(backplane::quoted(text));
  return out + "]";
}

}  // namespace

AccountTokens::AccountTokens(std::string name, std::vector<std::string> issuers, std::shared_ptr<AccountKeys> keys,
                             std::vector<std::string> api_audiences, std::shared_ptr<ClaimsValidator> validator, AccountMetricsRef metrics)
    : name_(std::move(name)),
      issuers_(issuers.begin(), issuers.end()),
      keys_(std::move(keys)),
      api_audiences_(std::move(api_audiences)),
      validator_(std::move(validator)),
      metrics_(std::move(metrics)) {}

Task<Result<AccountToken>> AccountTokens::verified(std::string token, kit::Jws jws) const {
  const std::shared_ptr<const kit::KeySet> keys = co_await keys_->keys_for(jws.key_id);
  if (keys->find(jws.key_id).empty()) co_return unauthorized("invalid signature, no keys found");
  bool good = false;
  co_await run_blocking([&] { good = kit::verifying_key(jws, *keys) != nullptr; });
  if (!good) co_return unauthorized(kBadSignature);
  auto payload = read_json(jws.payload);
  if (!payload || !payload->is_object()) co_return unauthorized("the claims are not a JSON object");
  auto claims = kit::read_claims(payload->get_object());
  if (!claims.ok()) co_return std::move(claims).status();
  AccountToken out;
  out.text = std::move(token);
  out.claims = std::move(*claims);
  out.payload = std::move(payload->get_object());
  co_return out;
}

Task<AuthenticationResult> AccountTokens::authenticate(std::string token, std::vector<std::string> audiences, TokenNotes& notes) {
  const std::optional<AuthenticationResponse> other_kind;
  const auto unverified = kit::unverified_claims(token);
  if (!unverified || !issuers_.contains(get_string(*unverified, "iss"))) co_return other_kind;
  auto jws = kit::parse_jws(token);
  if (!jws.ok()) co_return other_kind;
  auto verifying = verified(std::move(token), std::move(*jws));
  auto read = co_await std::move(verifying);
  if (!read.ok()) co_return std::move(read).status();
  const kit::TokenClaims& claims = read->claims;
  if (!issuers_.contains(claims.issuer)) co_return unauthorized("token issuer " + backplane::quoted(claims.issuer) + " is invalid");
  if (claims.audiences.empty()) {
    notes.annotations["authentication.k8s.io/legacy-token"] = claims.subject;
    metrics_->legacy->add();
  }
  const std::vector<std::string>& have = claims.audiences.empty() ? api_audiences_ : claims.audiences;
  AuthenticationResponse response;
  response.audiences = intersection(have, audiences);
  if (response.audiences.empty()) {
    co_return unauthorized("token audiences " + quoted_list(have) + " is invalid for the target audiences " + quoted_list(audiences));
  }
  auto user = co_await validator_->validate(*read, notes);
  if (!user.ok()) co_return unauthorized(user.status().message());
  response.user = std::move(*user);
  co_return std::optional<AuthenticationResponse>(std::move(response));
}

}  // namespace backplane::authentication
