// One compiled webhook of a configuration: the conditions for a call, and the parameters of the call.
//
// Thread-safety: immutable, except for the client's connections and the circuit breaker, which are safe from any thread.
// Lifetime:      shared; a request that calls the webhook keeps it alive.
// Source:        k8s.io/apiserver/pkg/admission/plugin/webhook/accessors.go.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "backplane/core/log_limit.hpp"
#include "common/resource_rules.hpp"
#include "webhooks/answer_clock.hpp"
#include "webhooks/circuit_breaker.hpp"
#include "webhooks/hook_client.hpp"
#include "webhooks/label_match.hpp"
#include "webhooks/match_conditions.hpp"
#include "webhooks/webhook_metrics.hpp"

namespace backplane::admission::webhooks {

struct Hook {
  HookType type = HookType::kMutating;
  std::string configuration;  // the name of the object
  std::string name;
  std::string uid;  // "configuration/name/N", because names need not be unique
  std::vector<ResourceRule> rules;
  OperationSet operations = 0;  // the union over all rules
  bool equivalent = true;       // matchPolicy
  LabelMatch namespaces, objects;
  std::shared_ptr<const MatchConditions> conditions;  // null: none
  bool ignores_failures = false;                      // failurePolicy
  bool reinvocable = false;                           // reinvocationPolicy IfNeeded
  std::string side_effects;
  std::chrono::seconds timeout{0};  // 0: the client's
  std::string review_version;       // "v1", "v1beta1"; empty: the webhook accepts no known version
  bool fail_open_for_own_service = false;
  std::shared_ptr<HookClient> client;
  std::shared_ptr<CircuitBreaker> breaker;  // null: off
  std::shared_ptr<AnswerClock> answers = std::make_shared<AnswerClock>();
  // Limits the log line about failed calls.
  std::shared_ptr<LogLimit> log_limit = std::make_shared<LogLimit>(std::chrono::seconds(10));
};

using HookRef = std::shared_ptr<const Hook>;
using Hooks = std::vector<HookRef>;

// The arguments for making all hooks of a plugin.
struct HookParts {
  Host& host;
  std::shared_ptr<ServiceResolver> services;
  WebhookConfiguration configuration;
};

// The webhooks of a MutatingWebhookConfiguration or ValidatingWebhookConfiguration, in its order. `origin`: the beginning of their uids.
Hooks read_hooks(const Object& configuration, HookType type, const HookParts& parts, const std::string& origin = {});

}  // namespace backplane::admission::webhooks
