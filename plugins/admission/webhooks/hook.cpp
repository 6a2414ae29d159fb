#include "webhooks/hook.hpp"

#include <map>

#include "backplane/core/json_access.hpp"

namespace backplane::admission::webhooks {
namespace {

std::string known_review_version(const Object& webhook) {
  for (std::string& version : texts_of(webhook, "admissionReviewVersions")) {
    if (version == "v1" || version == "v1beta1") return std::move(version);
  }
  return {};
}

std::shared_ptr<Hook> read_hook(const Object& webhook, HookType type, const HookParts& parts) {
  auto out = std::make_shared<Hook>();
  out->type = type;
  out->name = get_string(webhook, "name");
  out->rules = read_resource_rules(webhook, "rules");
  for (const ResourceRule& rule : out->rules) out->operations |= rule.operations;
  out->equivalent = get_string(webhook, "matchPolicy") == "Equivalent";
  out->namespaces = read_label_selector(get_object(webhook, "namespaceSelector"));
  out->objects = read_label_selector(get_object(webhook, "objectSelector"));
  out->conditions = MatchConditions::compile(webhook);
  out->ignores_failures = get_string(webhook, "failurePolicy") == "Ignore";
  out->reinvocable = get_string(webhook, "reinvocationPolicy") == "IfNeeded";
  out->side_effects = get_string(webhook, "sideEffects");
  out->timeout = std::chrono::seconds(get_int(webhook, "timeoutSeconds").value_or(0));
  out->review_version = known_review_version(webhook);
  out->fail_open_for_own_service = parts.configuration.fail_open_for_own_service;
  out->client = std::make_shared<HookClient>(parts.host, parts.services, object_or_empty(webhook, "clientConfig"),
                                             parts.configuration.credentials.get());
  const int failures = parts.configuration.circuit_breaker_failures;
  if (failures > 0) out->breaker = std::make_shared<CircuitBreaker>(failures);
  return out;
}

}  // namespace

Hooks read_hooks(const Object& configuration, HookType type, const HookParts& parts, const std::string& origin) {
  Hooks out;
  std::map<std::string, int> seen;
  each(configuration, "webhooks", [&](const Object& webhook, std::size_t) {
    auto hook = read_hook(webhook, type, parts);
    hook->configuration = meta_name(configuration);
    hook->uid = origin + hook->configuration + "/" + hook->name + "/" + std::to_string(seen[hook->name]++);
    out.push_back(std::move(hook));
  });
  return out;
}

}  // namespace backplane::admission::webhooks
