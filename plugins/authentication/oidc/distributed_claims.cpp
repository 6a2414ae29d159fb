#include "oidc/distributed_claims.hpp"

#include "backplane/host.hpp"
#include "oidc/id_token.hpp"

namespace backplane::authentication {
namespace {

struct ClaimSource {
  std::string url, access_token;
};

// Returns the source of the claim. Returns nullopt if the claims name no source, or if the source is an aggregated claim.
Result<std::optional<ClaimSource>> source_of(const Object& claims, const std::string& claim) {
  const std::optional<ClaimSource> none;
  const Value* names = find(claims, "_claim_names");
  if (find(claims, claim) != nullptr || names == nullptr) return none;
  if (!names->is_object() && !names->is_null())
    return unauthorized("oidc: error parsing distributed claim names: " + cannot_unmarshal(*names, "Go value of type map[string]string"));
  const Value* sources = find(claims, "_claim_sources");
  if (sources == nullptr) return unauthorized("oidc: no claim sources");
  if (!sources->is_object() && !sources->is_null()) {
    return unauthorized("oidc: could not parse claim sources: " + cannot_unmarshal(*sources, "Go value of type map[string]oidc.endpoint"));
  }
  if (names->is_null() || find(names->get_object(), claim) == nullptr) return none;
  const std::string name(get_string(names->get_object(), claim));
  const Object* source = sources->is_object() ? get_object(sources->get_object(), name) : nullptr;
  if (source == nullptr) return unauthorized("id token _claim_names contained a source " + name + " missing in _claims_sources");
  ClaimSource out{std::string(get_string(*source, "endpoint")), std::string(get_string(*source, "access_token"))};
  if (out.url.empty()) return none;
  return std::optional<ClaimSource>(std::move(out));
}

}  // namespace

Task<Status> DistributedClaims::expand(Object& claims, OidcClient::Deadline deadline) {
  auto source = source_of(claims, claim_);
  if (!source.ok()) co_return std::move(source).status();
  if (!source->has_value()) co_return Status();
  auto resolving = resolve(std::move((*source)->url), std::move((*source)->access_token), claims, deadline);
  Status status = co_await std::move(resolving);
  co_return status;
}

Task<Status> DistributedClaims::resolve(std::string url, std::string access_token, Object& claims, OidcClient::Deadline deadline) {
  auto getting = client_->get(url, std::move(access_token), deadline);
  auto reply = co_await std::move(getting);
  const std::string getting_failed = "while getting distributed claim " + backplane::quoted(claim_) + ": ";
  if (!reply.ok()) co_return unauthorized(getting_failed + reply.status().message());
  if (reply->code < 200 || reply->code > 226)
    co_return unauthorized(getting_failed + "error while getting distributed claim JWT: " + reply->status_line());
  auto issuer = untrusted_issuer(reply->body);
  if (!issuer.ok()) {
    co_return unauthorized("getting untrusted issuer from endpoint " + url + " failed for claim " + backplane::quoted(claim_) + ": " +
                           issuer.status().message());
  }
  auto finding = verifier(*issuer, deadline);
  auto found = co_await std::move(finding);
  if (!found.ok()) co_return unauthorized("verifying untrusted issuer " + *issuer + " failed: " + found.status().message());
  auto verifying = (*found)->verify(std::move(reply->body), deadline);
  auto verified = co_await std::move(verifying);
  if (!verified.ok()) co_return unauthorized("verify distributed claim token: " + verified.status().message());
  Value* value = find(*verified, claim_);
  if (value == nullptr) {
    co_return unauthorized("jwt returned by distributed claim endpoint " + backplane::quoted(url) + " did not contain claim: " + claim_);
  }
  claims[claim_] = std::move(*value);
  co_return Status();
}

Task<Result<std::shared_ptr<IdTokenVerifier>>> DistributedClaims::verifier(std::string issuer, OidcClient::Deadline deadline) {
  {
    std::lock_guard lock(mutex_);
    const auto found = verifiers_.find(issuer);
    if (found != verifiers_.end()) co_return found->second;
    if (verifiers_.size() >= kMostIssuers) co_return service_unavailable("too many issuers of distributed claims");
  }
  auto discovering = IdTokenVerifier::discover(
      host_, client_, issuer, "", rules_, [](const std::string*) {}, deadline);
  auto made = co_await std::move(discovering);
  if (!made.ok()) {
    host_.logger().error("the issuer of a distributed claim has no usable discovery document issuer=" + issuer +
                         " error=" + made.status().message());
    co_return service_unavailable("verifier not initialized for issuer: " + backplane::quoted(issuer));
  }
  std::lock_guard lock(mutex_);
  co_return verifiers_.emplace(std::move(issuer), std::move(*made)).first->second;
}

void DistributedClaims::stop() {
  std::lock_guard lock(mutex_);
  for (const auto& [issuer, verifier] : verifiers_) verifier->stop();
}

}  // namespace backplane::authentication
