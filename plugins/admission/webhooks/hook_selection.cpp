#include "webhooks/hook_selection.hpp"

#include "common/access_checks.hpp"
#include "common/request_fields.hpp"

namespace backplane::admission::webhooks {
namespace {

// The values of the variables for one write.
struct ConditionVariables {
  VersionedObjects objects;
  Value request;
  std::shared_ptr<AccessChecks> authorizer;  // null: no condition uses it
  std::shared_ptr<const cel::HostValue> request_resource;

  ConditionInput input() const { return {objects.object, objects.old_object, &request, authorizer.get(), request_resource.get()}; }
};

void add_authorizer(Host& host, const AdmissionAttributes& attributes, ConditionVariables& variables) {
  variables.authorizer = std::make_shared<AccessChecks>(host, attributes.user);
  variables.request_resource =
      std::make_shared<cel::RequestResource>(variables.authorizer, attributes.resource.group, attributes.resource.resource,
                                             attributes.subresource, attributes.ns, attributes.name);
}

Task<MatchConditions::Verdict> evaluate_conditions(const MatchConditions& conditions, const ConditionVariables& variables) {
  MatchConditions::Verdict verdict = conditions.evaluate(variables.input());
  while (variables.authorizer != nullptr && variables.authorizer->waits()) {
    auto waiting = variables.authorizer->wait();
    co_await std::move(waiting);
    verdict = conditions.evaluate(variables.input());
  }
  co_return verdict;
}

Task<Result<bool>> conditions_hold(Host& host, const Hook& hook, const AdmissionAttributes& attributes, const ServedAs& target,
                                   VersionedObjects objects) {
  const auto began = std::chrono::steady_clock::now();
  const auto storage = json::make_shared_resource<json::monotonic_resource>();
  ConditionVariables variables{objects, request_fields(attributes, target.resource, target.kind, storage), {}, {}};
  if (hook.conditions->uses_authorizer()) add_authorizer(host, attributes, variables);
  auto evaluating = evaluate_conditions(*hook.conditions, variables);
  const MatchConditions::Verdict verdict = co_await std::move(evaluating);
  const bool refused = !verdict.error.empty() && !hook.ignores_failures;
  count_conditions({hook.name, hook.type, attributes.operation}, std::chrono::steady_clock::now() - began, verdict.evaluation_errors,
                   !verdict.matches && !refused);
  if (!refused) co_return verdict.matches;
  host.logger().warn("failed evaluating match conditions, failing closed webhook=" + hook.name +
                     " error=" + backplane::quoted(verdict.error));
  co_return forbidden(attributes.resource.group, attributes.resource.resource, attributes.name, verdict.error);
}

}  // namespace

Task<Result<std::optional<ServedAs>>> should_call(Host& host, const Hook& hook, const AdmissionAttributes& attributes, WriteMatch& match,
                                                  VersionSource& versions, const Object* object) {
  auto target = match.target_of(hook);
  if (!target.ok() || !*target) co_return target;
  auto selecting = match.selects(hook, object);
  const auto selected = co_await std::move(selecting);
  if (!selected.ok()) co_return Status(selected.status());
  if (!*selected) co_return std::optional<ServedAs>();
  if (hook.conditions == nullptr) co_return target;
  auto converting = versions.in((*target)->kind);
  auto objects = co_await std::move(converting);
  if (!objects.ok()) co_return internal_error(objects.status().message());
  auto evaluating = conditions_hold(host, hook, attributes, **target, *objects);
  const auto hold = co_await std::move(evaluating);
  if (!hold.ok()) co_return Status(hold.status());
  if (!*hold) co_return std::optional<ServedAs>();
  co_return target;
}

}  // namespace backplane::admission::webhooks
