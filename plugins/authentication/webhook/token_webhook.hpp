// Tokens that a webhook reviews. The kubeconfig in --authentication-token-webhook-config-file contains its address and credentials.
//
// Positive and negative responses are cached for --authentication-token-webhook-cache-ttl; errors are not cached. A call is repeated with
// growing pauses if the server is overloaded or the connection is lost.
// Thread-safety: any executor, any number of calls at once.
// Lifetime:      shared; the host outlives it.
// Errors:        kUnauthorized: the error in the response, or the reason why there is no response.
// Source:        k8s.io/apiserver/plugin/pkg/authenticator/token/webhook.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/kit/review_webhook.hpp"
#include "backplane/types/schema.hpp"
#include "tokens/token_cache.hpp"
#include "tokens/token_source.hpp"

namespace backplane::authentication {

// Returns the TokenReview that is sent to the webhook. `version`: "v1" or "v1beta1".
std::string token_review(const std::string& version, const std::string& token, const std::vector<std::string>& audiences);
// Decodes the TokenReview in a response body. Errors: those of upstream's decoder.
Result<Object> read_token_review(const Schema& schema, const std::string& version, std::string_view body);
// Returns the result of a TokenReview response. `wanted`: the audiences of the request; `implicit`: the audiences of this server.
AuthenticationResult reviewed(const Object& review, const std::vector<std::string>& wanted, const std::vector<std::string>& implicit);

class TokenWebhook final : public TokenSource {
 public:
  // Reads the flags; returns null if no webhook is configured. `schemas`: those of the group authentication.k8s.io.
  // Errors: kBadRequest for an unusable kubeconfig or version.
  static Result<std::shared_ptr<TokenWebhook>> make(Host& host, const std::vector<std::shared_ptr<const SchemaSet>>& schemas,
                                                    std::vector<std::string> api_audiences);

  std::string_view name() const noexcept override { return "webhook"; }
  Task<AuthenticationResult> authenticate(std::string token, std::vector<std::string> audiences, TokenNotes& notes) override;

 private:
  TokenWebhook(Host& host, std::shared_ptr<kit::ReviewWebhook> webhook, std::shared_ptr<const SchemaSet> schemas, std::string version,
               std::vector<std::string> api_audiences, TokenCache::Options options);

  struct Reviewer;
  const std::shared_ptr<Reviewer> reviewer_;
  TokenCache cache_;
};

}  // namespace backplane::authentication
