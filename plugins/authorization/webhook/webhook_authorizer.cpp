#include "webhook/webhook_authorizer.hpp"

#include "backplane/core/metrics.hpp"

namespace backplane::authorization {
namespace {

using SteadyClock = std::chrono::steady_clock;

struct WebhookMetrics {
  Metric& evaluations = Metric::counter("apiserver_authorization_webhook_evaluations_total",
                                        "[ALPHA] Round-trips to authorization webhooks.", {"name", "result"});
  Metric& durations = Metric::histogram("apiserver_authorization_webhook_duration_seconds", "[ALPHA] Request latency in seconds.",
                                        {"name", "result"}, {0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10});
  Metric& fail_open = Metric::counter("apiserver_authorization_webhook_evaluations_fail_open_total",
                                      "[ALPHA] NoOpinion results due to webhook timeout or error.", {"name", "result"});
  Metric& condition_errors = Metric::counter("apiserver_authorization_match_condition_evaluation_errors_total",
                                             "[ALPHA] Total number of errors when an authorization webhook encounters a match condition "
                                             "error split by authorizer type and name.",
                                             {"type", "name"});
  Metric& exclusions = Metric::counter("apiserver_authorization_match_condition_exclusions_total",
                                       "[ALPHA] Total number of exclusions when an authorization webhook is skipped because match "
                                       "conditions exclude it.",
                                       {"type", "name"});
  Metric& condition_seconds = Metric::histogram("apiserver_authorization_match_condition_evaluation_seconds",
                                                "[ALPHA] Authorization match condition evaluation time in seconds, split by authorizer "
                                                "type and name.",
                                                {"type", "name"}, {0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25});
};

WebhookMetrics& metrics() {
  static WebhookMetrics all;
  return all;
}

double seconds(std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); }

AuthorizerResult decided(const ReviewStatus& status) {
  if (status.denied && status.allowed) {
    return {Decision::kDeny, status.reason,
            Status(Reason::kInternalError, "webhook subject access review returned both allow and deny response")};
  }
  const Decision decision = status.denied ? Decision::kDeny : (status.allowed ? Decision::kAllow : Decision::kNoOpinion);
  return {decision, status.reason, {}};
}

std::shared_ptr<const MatchConditions> conditions_of(const WebhookConfig& config) {
  FieldErrors ignored;  // the configuration is valid
  return MatchConditions::compile(config.match_conditions, "", ignored);
}

}  // namespace

WebhookAuthorizer::WebhookAuthorizer(std::string name, const WebhookConfig& config, std::shared_ptr<kit::ReviewWebhook> webhook,
                                     std::shared_ptr<const SchemaSet> schemas, std::chrono::nanoseconds timeout, Logger& logger)
    : name_(std::move(name)),
      version_(config.review_version),
      decision_on_error_(config.failure_policy == "Deny" ? Decision::kDeny : Decision::kNoOpinion),
      authorized_ttl_(config.cache_authorized ? config.authorized_ttl : std::chrono::nanoseconds(0)),
      unauthorized_ttl_(config.cache_unauthorized ? config.unauthorized_ttl : std::chrono::nanoseconds(0)),
      timeout_(timeout),
      conditions_(conditions_of(config)),
      webhook_(std::move(webhook)),
      decoder_(std::move(schemas), config.review_version),
      logger_(logger) {}

std::optional<AuthorizerResult> WebhookAuthorizer::match(const RequestView& request) const {
  if (conditions_ == nullptr) return std::nullopt;
  const auto began = SteadyClock::now();
  MatchConditions::Verdict verdict = conditions_->evaluate(condition_request(request, conditions_->uses_selectors()));
  metrics().condition_seconds.observe({"Webhook", name_}, seconds(SteadyClock::now() - began));
  if (verdict.matches) return std::nullopt;
  if (verdict.error.ok()) {
    metrics().exclusions.add({"Webhook", name_});
    return AuthorizerResult{};
  }
  metrics().condition_errors.add({"Webhook", name_});
  return failed(std::move(verdict.error));
}

AuthorizerResult WebhookAuthorizer::failed(Status error) const { return {decision_on_error_, "", std::move(error)}; }

void WebhookAuthorizer::note(const kit::ReviewAttempt& attempt) const {
  const std::string_view result = kit::review_result(attempt.end);
  metrics().evaluations.add({name_, result});
  metrics().durations.observe({name_, result}, seconds(attempt.took));
}

std::optional<AuthorizerResult> WebhookAuthorizer::decide_now(const RequestView& request) const {
  if (conditions_ != nullptr) return std::nullopt;
  const auto known = cache_.get(to_json(review_spec(request, version_)));
  if (!known) return std::nullopt;
  return decided(*known);
}

Task<AuthorizerResult> WebhookAuthorizer::authorize(const AuthorizationAttributes& attributes) {
  const auto alive = shared_from_this();
  const RequestView request(attributes);
  if (auto settled = match(request)) co_return std::move(*settled);
  const Object spec = review_spec(request, version_);
  const std::string question = to_json(spec);
  // Another request may have got the same decision meanwhile.
  if (const auto known = cache_.get(question)) co_return decided(*known);
  kit::ReviewAttempt last;
  auto posting = webhook_->post(
      review_body(spec, version_), [this](std::string_view body) { return decoder_.decode(body); }, SteadyClock::now() + timeout_,
      [this, &last](const kit::ReviewAttempt& attempt) {
        note(attempt);
        last = attempt;
      });
  auto answer = co_await std::move(posting);
  if (!answer.ok()) {
    if (const auto suppressed = failures_.admit()) {
      logger_.error("Failed to make webhook authorizer request: " + answer.status().message() + " webhook=" + name_ +
                    " suppressed=" + std::to_string(*suppressed));
    }
    if (decision_on_error_ == Decision::kNoOpinion && last.end != kit::ReviewAttempt::End::kCancelled) {
      metrics().fail_open.add({name_, kit::review_result(last.end)});
    }
    co_return failed(std::move(answer).status());
  }
  const ReviewStatus status = review_status(*answer);
  if (is_cacheable(request)) cache_.put(question, status, status.allowed ? authorized_ttl_ : unauthorized_ttl_);
  co_return decided(status);
}

Task<RuleList> WebhookAuthorizer::rules_for(UserInfo, std::string) {
  RuleList rules;
  rules.incomplete = true;
  rules.error = Status(Reason::kInternalError, "webhook authorizer does not support user rule resolution");
  co_return rules;
}

}  // namespace backplane::authorization
