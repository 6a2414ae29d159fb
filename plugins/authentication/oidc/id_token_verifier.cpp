#include "oidc/id_token_verifier.hpp"

#include "backplane/host.hpp"
#include "backplane/types/json_reading.hpp"
#include "backplane/types/url.hpp"
#include "oidc/id_token.hpp"

namespace backplane::authentication {
namespace {

constexpr std::string_view kWellKnown = "/.well-known/openid-configuration";

// Returns the URL of the discovery document. Removes one trailing slash of the issuer first.
std::string well_known_url(std::string_view issuer) {
  if (issuer.ends_with('/')) issuer.remove_suffix(1);
  return std::string(issuer).append(kWellKnown);
}

// Checks a discovery document, and returns its URL of the keys.
Result<std::string> keys_url(const OidcReply& reply, const std::string& issuer) {
  if (reply.code != 200) return service_unavailable(reply.status_line());
  const auto document = read_json(reply.body);
  if (!document || !document->is_object()) return service_unavailable("oidc: failed to decode provider discovery object");
  const std::string_view reported = get_string(document->get_object(), "issuer");
  if (reported != issuer) {
    return service_unavailable("oidc: issuer did not match the issuer returned by provider, expected " + backplane::quoted(issuer) +
                               " got " + backplane::quoted(reported));
  }
  std::string url(get_string(document->get_object(), "jwks_uri"));
  if (url.empty()) return service_unavailable("provider did not return JWKS URL");
  if (const std::string problem = url_problem(url); !problem.empty()) return service_unavailable(problem);
  return url;
}

}  // namespace

Result<SigningAlgorithms> SigningAlgorithms::of(std::vector<std::string> names) {
  SigningAlgorithms out;
  for (const std::string& name : names) {
    const auto algorithm = kit::jose_algorithm_of(name);
    if (!algorithm) return bad_request("oidc: unsupported signing alg: " + backplane::quoted(name));
    out.set.add(*algorithm);
  }
  out.names = std::move(names);
  return out;
}

SigningAlgorithms SigningAlgorithms::all() {
  return {{"ES256", "ES384", "ES512", "PS256", "PS384", "PS512", "RS256", "RS384", "RS512"}, kit::JoseAlgorithms::all()};
}

Task<Result<std::shared_ptr<IdTokenVerifier>>> IdTokenVerifier::discover(Host& host, std::shared_ptr<OidcClient> client, std::string issuer,
                                                                         std::string discovery_url, TokenRules rules,
                                                                         RemoteKeys::Observer observer, OidcClient::Deadline deadline) {
  std::string url_of_document = discovery_url.empty() ? well_known_url(issuer) : std::move(discovery_url);
  auto getting = client->get(std::move(url_of_document), {}, deadline);
  auto reply = co_await std::move(getting);
  if (!reply.ok()) co_return std::move(reply).status();
  auto url = keys_url(*reply, issuer);
  if (!url.ok()) co_return std::move(url).status();
  auto keys = std::make_shared<RemoteKeys>(host, std::move(client), std::move(*url), std::move(observer));
  co_return std::make_shared<IdTokenVerifier>(std::move(issuer), std::move(rules), std::move(keys));
}

Task<Result<Object>> IdTokenVerifier::verify(std::string token, OidcClient::Deadline deadline) const {
  auto parsed = kit::parse_jws(token);
  if (!parsed.ok()) co_return unauthorized("oidc: malformed jwt: " + parsed.status().message());
  const auto jws = std::make_shared<const kit::Jws>(std::move(*parsed));
  if (!jws->algorithm || !rules_.algorithms.set.contains(*jws->algorithm)) {
    co_return unauthorized("oidc: id token signed with unsupported algorithm, expected " + quoted_texts(rules_.algorithms.names) + " got " +
                           backplane::quoted(jws->algorithm_name));
  }
  auto verifying = keys_->verify(jws, deadline);
  Status status = co_await std::move(verifying);
  if (!status.ok()) co_return unauthorized("failed to verify signature: " + status.message());
  co_return check_id_token(jws->payload, {issuer_, rules_.audiences, rules_.now()});
}

}  // namespace backplane::authentication
