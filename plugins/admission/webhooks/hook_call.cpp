#include "webhooks/hook_call.hpp"

#include <algorithm>

#include "backplane/core/logger.hpp"
#include "backplane/core/request.hpp"
#include "backplane/host.hpp"
#include "backplane/points/tracing.hpp"
#include "backplane/types/schema.hpp"
#include "webhooks/circuit_report.hpp"
#include "webhooks/own_service.hpp"

namespace backplane::admission::webhooks {
namespace {

using CallClock = std::chrono::steady_clock;

constexpr std::chrono::seconds kClientTimeout{30};  // the timeout of upstream's clients, for a webhook without timeoutSeconds

std::string whole_seconds_text(std::chrono::nanoseconds time) {
  const auto millis = std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
  return millis % 1000 == 0 ? std::to_string(millis / 1000) + "s" : std::to_string(millis) + "ms";
}

// The deadline of a call, and whether it comes from the webhook's timeout.
struct CallLimit {
  CallClock::time_point end;
  bool of_webhook = true;

  void lower_to(CallClock::time_point other) {
    if (other >= end) return;
    end = other;
    of_webhook = false;
  }
};

// Returns nullopt if the chain's budget is exhausted.
std::optional<CallLimit> limit_of_call(const HookRuntime& runtime, const Hook& hook, const AdmissionAttributes& attributes) {
  const auto now = CallClock::now();
  CallLimit limit{now + (hook.timeout.count() > 0 ? hook.timeout : kClientTimeout)};
  const RequestContext* context = attributes.context;
  if (context == nullptr) return limit;
  limit.lower_to(context->deadline);
  if (runtime.chain_budget.count() == 0 || context->info.verb == "deletecollection") return limit;
  const auto used = context->latencies.mutating_webhooks + context->latencies.validating_webhooks;
  if (used >= runtime.chain_budget) return std::nullopt;
  limit.lower_to(now + std::chrono::duration_cast<CallClock::duration>(runtime.chain_budget - used));
  return limit;
}

// Upstream adds up the times of mutating webhooks, and uses the longest time of validating ones, which run concurrently.
void track_latency(const Hook& hook, const AdmissionAttributes& attributes, std::chrono::nanoseconds took) {
  if (attributes.context == nullptr) return;
  RequestLatencies& latencies = attributes.context->latencies;
  if (hook.type == HookType::kMutating) {
    latencies.mutating_webhooks += took;
  } else {
    latencies.validating_webhooks = std::max(latencies.validating_webhooks, took);
  }
}

void log_annotation_problem(const HookRuntime& runtime, const Hook& hook, const std::string& key, const Status& problem) {
  if (problem.ok()) return;
  runtime.host.logger().warn("cannot set the audit annotation of a webhook webhook=" + hook.name + " key=" + key +
                             " error=" + backplane::quoted(problem.message()));
}

void take_annotations(const HookRuntime& runtime, const Hook& hook, const AdmissionAttributes& attributes, const ReviewAnswer& answer) {
  for (const auto& [key, value] : answer.audit_annotations) {
    const std::string whole = hook.name + "/" + key;
    log_annotation_problem(runtime, hook, whole, attributes.annotate(whole, value));
  }
  for (const std::string& warning : answer.warnings) attributes.warn(warning);
}

HookEnd end_of_answer(const HookRuntime& runtime, const Hook& hook, const AdmissionAttributes& attributes, ReadAnswer read) {
  if (const auto* failure = std::get_if<WebhookFailure>(&read)) return hook_failed(hook, *failure);
  ReviewAnswer& answer = std::get<ReviewAnswer>(read);
  take_annotations(runtime, hook, attributes, answer);
  HookEnd end;
  if (!answer.allowed) {
    end.kind = HookEnd::Kind::kRejected;
    end.status = denied_by(hook.name, answer.result);
    end.code = end.status.code();
    return end;
  }
  end.patch = std::move(answer.patch);
  end.patch_type = std::move(answer.patch_type);
  return end;
}

HookEnd breaker_refusal(const Hook& hook, const AdmissionAttributes& attributes) {
  count_circuit_refusal({hook.name, hook.type, attributes.operation});
  return hook_failed(hook, {"failed to call webhook: its circuit breaker is open after repeated failures", 503});
}

HookEnd budget_refusal(const HookRuntime& runtime, const Hook& hook) {
  return hook_failed(hook, {"failed to call webhook: the webhooks of this request have used up their budget of " +
                                whole_seconds_text(runtime.chain_budget),
                            503});
}

void describe_call(TraceSpan& span, const Hook& hook, const AdmissionAttributes& attributes, const std::string& uid) {
  const auto& [group, version, resource] = attributes.resource;
  const std::string named = group + "/" + version + ", Resource=" + resource;
  span.set("configuration", std::string_view(hook.configuration));
  span.set("webhook", std::string_view(hook.name));
  span.set("resource", std::string_view(named));
  span.set("subresource", std::string_view(attributes.subresource));
  span.set("operation", admission_operation_name(attributes.operation));
  span.set("UID", std::string_view(uid));
}

Task<HookEnd> post_review(const HookRuntime& runtime, const Hook& hook, const AdmissionAttributes& attributes, const EncodedReview& review,
                          CallClock::time_point deadline) {
  const std::string uid = new_uid();
  // Validating webhooks are called at the same time.
  TraceSpan span(attributes.context, hook.type == HookType::kMutating ? "Call mutating webhook" : "Call validating webhook",
                 SpanKind::kInternal, TraceSpan::Use::kConcurrent);
  describe_call(span, hook, attributes, uid);
  auto calling = hook.client->call(review.body(uid), deadline, attributes.context, span);
  auto answer = co_await std::move(calling);
  if (!answer.ok()) co_return hook_failed(hook, {"failed to call webhook: " + answer.status().message(), 503});
  span.step("Request completed");
  hook.answers->mark(CallClock::now());
  co_return end_of_answer(runtime, hook, attributes,
                          read_review_answer(*answer, hook.review_version, uid, hook.type == HookType::kMutating));
}

// A call is not counted if another limit than the webhook's timeout ended it: clients with short timeouts must not open the circuit.
void notify_breaker(const HookRuntime& runtime, const Hook& hook, const HookEnd& end, const CallLimit& limit, CallClock::time_point ended) {
  if (hook.breaker == nullptr) return;
  const bool failed = end.kind == HookEnd::Kind::kFailed;
  if (failed && !limit.of_webhook && ended >= limit.end) return;
  report_circuit(runtime.host, hook, hook.breaker->ended(failed, ended), end.why);
}

// True if a failure does not refuse the write.
bool fails_open(const Hook& hook, const AdmissionAttributes& attributes, const HookEnd& end) {
  if (hook.ignores_failures) return true;
  return !end.hangs && hook.fail_open_for_own_service && writes_own_service(hook.client->service_namespace(), attributes);
}

void log_failure(const HookRuntime& runtime, const Hook& hook, std::string_view policy, const std::string& why) {
  const auto suppressed = hook.log_limit->admit();
  if (!suppressed) return;
  runtime.host.logger().warn("failed calling webhook, failing " + std::string(policy) + " webhook=" + hook.name +
                             " error=" + backplane::quoted(why) + " suppressed=" + std::to_string(*suppressed));
}

Status handle_failure(const HookRuntime& runtime, const Hook& hook, const AdmissionAttributes& attributes, const HookEnd& end,
                      const std::string& open_annotation) {
  const HookLabels labels{hook.name, hook.type, attributes.operation};
  if (!fails_open(hook, attributes, end)) {
    log_failure(runtime, hook, "closed", end.why);
    count_rejection(labels, "calling_webhook_error", end.code);
    count_call(labels, end.took, true, end.code);
    return internal_error(end.why);
  }
  log_failure(runtime, hook, "open", end.why);
  count_call(labels, end.took, false, end.code);
  count_fail_open(labels);
  log_annotation_problem(runtime, hook, open_annotation, attributes.annotate(open_annotation, hook.name));
  return {};
}

// The object with its members in the order of the type, because defaults and previous plugins have appended members. nullopt: the order of
// the object is used.
std::optional<Value> in_order(const Schema* schema, const Object* object) {
  if (schema == nullptr || schema->structural() || object == nullptr) return std::nullopt;
  Value ordered(*object, json::make_shared_resource<json::monotonic_resource>());
  if (!schema->normalize(ordered, nullptr).ok()) return std::nullopt;
  return ordered;
}

}  // namespace

HookEnd hook_failed(const Hook& hook, const WebhookFailure& failure) {
  HookEnd end;
  end.kind = HookEnd::Kind::kFailed;
  end.why = "failed calling webhook " + backplane::quoted(hook.name) + ": " + failure.why;
  end.code = failure.code;
  return end;
}

HookEnd hook_internal(Status status) {
  HookEnd end;
  end.kind = HookEnd::Kind::kInternal;
  end.status = std::move(status);
  end.code = 0;
  return end;
}

const EncodedReview& ReviewCache::get(const Hook& hook, const AdmissionAttributes& attributes, const ServedAs& target, const Object* object,
                                      const Object* old_object, const Schema* schema) {
  for (const Entry& entry : reviews_) {
    if (entry.version == hook.review_version && entry.target == target) return entry.review;
  }
  const std::optional<Value> ordered = in_order(schema, object);
  if (ordered) object = &ordered->get_object();
  reviews_.push_back({hook.review_version, target, encode_review(hook.review_version, attributes, target, object, old_object)});
  return reviews_.back().review;
}

std::optional<HookEnd> refuse_dry_run(const Hook& hook, const AdmissionAttributes& attributes) {
  if (!attributes.dry_run || hook.side_effects == "None" || hook.side_effects == "NoneOnDryRun") return std::nullopt;
  if (hook.side_effects.empty()) return hook_failed(hook, {"Webhook SideEffects is nil", 400});
  return hook_internal(bad_request("admission webhook " + backplane::quoted(hook.name) + " does not support dry run"));
}

Task<HookEnd> call_hook(const HookRuntime& runtime, const Hook& hook, const AdmissionAttributes& attributes, const EncodedReview* review) {
  if (review == nullptr) {
    co_return hook_failed(
        hook, {"could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)", 400});
  }
  if (!hook.client->problem().ok()) {
    co_return hook_failed(hook, {"could not get REST client: " + hook.client->problem().message(), 500});
  }
  const auto limit = limit_of_call(runtime, hook, attributes);
  if (!limit) co_return budget_refusal(runtime, hook);
  const auto began = CallClock::now();
  if (hook.breaker != nullptr && !hook.breaker->enter(began)) co_return breaker_refusal(hook, attributes);
  auto posting = post_review(runtime, hook, attributes, *review, limit->end);
  HookEnd end = co_await std::move(posting);
  const auto ended = CallClock::now();
  end.took = ended - began;
  end.hangs = end.kind == HookEnd::Kind::kFailed && ended >= limit->end && hook.answers->alive(ended);
  track_latency(hook, attributes, end.took);
  notify_breaker(runtime, hook, end, *limit, ended);
  co_return end;
}

std::optional<Status> finish_call(const HookRuntime& runtime, const Hook& hook, const AdmissionAttributes& attributes, HookEnd end,
                                  const std::string& open_annotation) {
  const HookLabels labels{hook.name, hook.type, attributes.operation};
  switch (end.kind) {
    case HookEnd::Kind::kAllowed:
      count_call(labels, end.took, false, end.code);
      return std::nullopt;
    case HookEnd::Kind::kRejected:
      count_rejection(labels, "no_error", end.code);
      count_call(labels, end.took, true, end.code);
      return std::move(end.status);
    case HookEnd::Kind::kInternal:
      count_rejection(labels, "apiserver_internal_error", 0);
      count_call(labels, end.took, true, 0);
      return std::move(end.status);
    case HookEnd::Kind::kFailed:
      break;
  }
  Status refused = handle_failure(runtime, hook, attributes, end, open_annotation);
  if (refused.ok()) return std::nullopt;
  return refused;
}

}  // namespace backplane::admission::webhooks
