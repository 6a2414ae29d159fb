// The authorizer "Webhook": sends SubjectAccessReviews to a server.
//
// Thread-safety: any thread, any number of requests at once.
// Lifetime:      shared with the host; a request that waits keeps it alive.
// Errors:        the failure policy decides. The result contains the error; a request that is refused then gets 500.
// Source:        k8s.io/apiserver/plugin/pkg/authorizer/webhook/webhook.go.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "backplane/core/log_limit.hpp"
#include "backplane/core/logger.hpp"
#include "backplane/kit/review_webhook.hpp"
#include "backplane/points/authorization.hpp"
#include "config/configuration.hpp"
#include "webhook/access_review.hpp"
#include "webhook/decision_cache.hpp"
#include "webhook/match_conditions.hpp"

namespace backplane::authorization {

class WebhookAuthorizer final : public Authorizer, public RuleResolver, public std::enable_shared_from_this<WebhookAuthorizer> {
 public:
  // `name`: the label of the metrics. `timeout`: the time limit for one request with all its attempts. The logger outlives the authorizer.
  WebhookAuthorizer(std::string name, const WebhookConfig& config, std::shared_ptr<kit::ReviewWebhook> webhook,
                    std::shared_ptr<const SchemaSet> schemas, std::chrono::nanoseconds timeout, Logger& logger);

  std::string_view name() const noexcept override { return "Webhook"; }
  // Returns a cached decision; nullopt if there is none. Always returns nullopt if there are match conditions, so that only authorize()
  // evaluates them.
  std::optional<AuthorizerResult> decide_now(const RequestView& request) const override;
  Task<AuthorizerResult> authorize(const AuthorizationAttributes& attributes) override;
  RuleResolver* rule_resolver() noexcept override { return this; }
  // Returns an error and an incomplete list, because a webhook cannot list rules.
  Task<RuleList> rules_for(UserInfo user, std::string ns) override;

 private:
  // Returns the decision if the match conditions determine it; nullopt: the webhook decides.
  std::optional<AuthorizerResult> match(const RequestView& request) const;
  AuthorizerResult failed(Status error) const;
  void note(const kit::ReviewAttempt& attempt) const;

  const std::string name_;
  const std::string version_;
  const Decision decision_on_error_;
  const std::chrono::nanoseconds authorized_ttl_, unauthorized_ttl_;  // 0: not cached
  const std::chrono::nanoseconds timeout_;
  const std::shared_ptr<const MatchConditions> conditions_;  // null: every request matches
  const std::shared_ptr<kit::ReviewWebhook> webhook_;
  const AccessReviewDecoder decoder_;
  mutable DecisionCache cache_;
  Logger& logger_;
  LogLimit failures_;
};

}  // namespace backplane::authorization
