#include "policies/policy_mutation.hpp"

#include <chrono>

#include "common/deadline.hpp"
#include "policies/evaluation.hpp"
#include "policies/object_patch.hpp"
#include "policies/policy_metrics.hpp"
#include "policies/policy_request.hpp"
#include "policies/reinvocation.hpp"

namespace backplane::admission::policies {
namespace {

using Audience = PolicyRequest::Audience;
using Clock = std::chrono::steady_clock;

// A policy that applies to the write, with one parameter.
struct Invocation {
  const Policy* policy = nullptr;
  const Binding* binding = nullptr;
  const ServedAs* as = nullptr;
  ObjectTreeRef param;
};

struct PolicyProblem {
  const Policy* policy = nullptr;
  const Binding* binding = nullptr;  // null: the problem is one of the policy
  std::string text;
  Reason reason = Reason::kNone;
};

std::string text_of_problem(const PolicyProblem& problem) {
  const std::string end = " denied request: " + problem.text;
  if (problem.binding == nullptr) return "policy " + quoted(problem.policy->name) + end;
  return "policy '" + problem.policy->name + "' with binding '" + problem.binding->name + "'" + end;
}

Status refusal_of(const AdmissionAttributes& attributes, const std::vector<PolicyProblem>& problems) {
  Reason reason = Reason::kForbidden;
  std::string message;
  const Status forbidden = admission_forbidden(attributes, "admission request denied by policy");
  StatusDetails details = forbidden.details() != nullptr ? *forbidden.details() : StatusDetails();
  for (const PolicyProblem& problem : problems) {
    if (problem.policy->ignores_failure) continue;
    std::string text = text_of_problem(problem);
    if (message.empty()) {
      message = text;
      if (problem.reason != Reason::kNone) reason = problem.reason;
    }
    details.causes.push_back({.reason = {}, .message = std::move(text), .field = {}});
  }
  if (message.empty()) return {};
  // Upstream changes the reason, and not the code.
  return Status(forbidden.code(), reason, std::move(message)).with_details(std::move(details));
}

InvocationKey key_of(const Invocation& invocation) {
  InvocationKey out{invocation.policy->name, invocation.binding->name, {}, {}};
  if (invocation.param != nullptr) {
    out.param_namespace = invocation.param->object->ns();
    out.param = invocation.param->object->name();
  }
  return out;
}

// One pass over the policies of one write.
class PolicyMutation {
 public:
  PolicyMutation(PolicySource& source, AdmissionAttributes& attributes, std::shared_ptr<const PolicyIndex> index,
                 std::shared_ptr<const ResourceTargets> targets)
      : source_(source),
        attributes_(attributes),
        index_(std::move(index)),
        targets_(std::move(targets)),
        request_(source, attributes),
        write_(source.host(), attributes) {}

  Task<Status> run() {
    while (!collect()) {
      auto waiting = request_.wait();
      co_await std::move(waiting);
    }
    if (!invocations_.empty()) {
      auto invoking = invoke_all();
      Status invoked = co_await std::move(invoking);
      if (!invoked.ok()) co_return invoked;
    }
    if (problems_.empty()) co_return Status();
    co_return unless_late(attributes_, refusal_of(attributes_, problems_));
  }

 private:
  // ---- which policies apply

  // Returns false if the request waits.
  bool collect() {
    invocations_.clear();
    problems_.clear();
    for (const PolicyTarget& target : targets_->targets) {
      const Policy& policy = *target.hook->policy;
      PolicyRequest::Matched matched = request_.match(target.match);
      if (request_.waits()) return false;
      if (!matched.matches && matched.problem.empty()) continue;
      std::string problem = matched.problem.empty() ? target.hook->problem : std::move(matched.problem);
      if (!problem.empty()) {
        problems_.push_back({&policy, nullptr, "failed to configure policy: " + problem});
        continue;
      }
      for (std::size_t i = 0; i < target.bindings.size(); ++i) {
        collect_binding(target, i, matched.as);
        if (request_.waits()) return false;
      }
    }
    return true;
  }

  void collect_binding(const PolicyTarget& target, std::size_t place, const ServedAs* as) {
    const Policy& policy = *target.hook->policy;
    const Binding& binding = *target.hook->bindings[place];
    PolicyRequest::Matched matched = request_.match(target.bindings[place]);
    if (request_.waits()) return;
    const auto fail = [&](const std::string& problem) {
      problems_.push_back({&policy, &binding, "failed to configure binding: " + problem});
    };
    if (!matched.problem.empty()) return fail(matched.problem);
    if (!matched.matches) return;
    CollectedParams params = request_.params(policy, binding, target.hook->params.get());
    if (request_.waits()) return;
    if (!params.problem.empty()) return fail(params.problem);
    for (ObjectTreeRef& param : params.params) invocations_.push_back({&policy, &binding, as, std::move(param)});
  }

  // ---- the calls

  Task<Status> invoke_all() {
    auto ns = request_.namespace_object();
    if (ns.ok() && request_.waits()) {
      auto waiting = request_.wait();
      co_await std::move(waiting);
      ns = request_.namespace_object();
    }
    if (!ns.ok()) co_return std::move(ns.status());
    AdmissionReinvocation& write = *attributes_.reinvocation;
    PolicyReinvocation& state = PolicyReinvocation::of(write);
    if (write.again() && attributes_.object != nullptr && state.has_changed(*attributes_.object)) state.require_again();
    bool patched = false;
    for (const Invocation& invocation : invocations_) {
      auto invoking = invoke(invocation, write, state, patched);
      Status invoked = co_await std::move(invoking);
      if (!invoked.ok()) co_return invoked;
    }
    if (patched) {
      state.require_again();
      write.request();
    }
    if (attributes_.object != nullptr) state.keep_last(*attributes_.object);
    co_return Status();
  }

  Task<Status> invoke(const Invocation& invocation, AdmissionReinvocation& write, PolicyReinvocation& state, bool& patched) {
    const Policy& policy = *invocation.policy;
    auto preparing = prepare(invocation);
    Status prepared = co_await std::move(preparing);
    if (!prepared.ok()) {
      problems_.push_back({&policy, nullptr, "failed to configure policy: " + prepared.message()});
      co_return Status();
    }
    ConditionsResult conditions = match_conditions(policy, request_, shown_, invocation.param);
    while (request_.waits()) {
      auto waiting = request_.wait();
      co_await std::move(waiting);
      conditions = match_conditions(policy, request_, shown_, invocation.param);
    }
    if (!conditions.error.empty()) problems_.push_back({&policy, invocation.binding, conditions.error, Reason::kInvalid});
    if (!conditions.match) co_return Status();
    InvocationKey key = key_of(invocation);
    if (write.again() && !state.runs_again(key)) co_return Status();
    bool changed = false;
    for (const Mutation& mutation : policy.mutations) {
      if (shown_.object == nullptr) break;
      auto mutating = mutate(invocation, mutation, changed);
      Status mutated = co_await std::move(mutating);
      if (!mutated.ok()) co_return mutated;
    }
    patched = patched || changed;
    if (changed) {
      write_.set_changed();
      auto flushing = write_.flush();
      const Status flushed = co_await std::move(flushing);
      if (!flushed.ok()) co_return internal_error("failed to convert object: " + flushed.message());
    }
    if (policy.reinvocable) state.add(std::move(key));
    co_return Status();
  }

  Task<Status> mutate(const Invocation& invocation, const Mutation& mutation, bool& patched) {
    const auto began = Clock::now();
    auto evaluating = evaluate_mutation(invocation, mutation);
    Evaluated evaluated = co_await std::move(evaluating);
    PatchError error = evaluated.error.empty() ? patch(std::move(evaluated), mutation) : PatchError{std::move(evaluated.error), {}};
    const std::string& text = error.status.ok() ? error.text : error.status.message();
    count_mutation(invocation.policy->name, invocation.binding->name, error_type_of(text),
                   std::chrono::duration<double>(Clock::now() - began).count());
    if (error.ok()) patched = true;
    if (error.status.ok() && !error.text.empty()) {
      problems_.push_back({invocation.policy, invocation.binding, std::move(error.text), Reason::kInvalid});
    }
    co_return std::move(error.status);
  }

  Task<Evaluated> evaluate_mutation(const Invocation& invocation, const Mutation& mutation) {
    const Policy& policy = *invocation.policy;
    Evaluated out;
    if (mutation.expression.program == nullptr) {
      out.error = mutation.expression.problem;
      co_return out;
    }
    for (;;) {
      out = evaluate_now(policy, invocation, mutation);
      if (!request_.waits()) co_return out;
      auto waiting = request_.wait();
      co_await std::move(waiting);
    }
  }

  Evaluated evaluate_now(const Policy& policy, const Invocation& invocation, const Mutation& mutation) {
    const auto bound = request_.bindings(policy, shown_, invocation.param, Audience::kExpressions);
    const auto cancelled = cancellation_of(attributes_);
    cel::Scope scope(bound.span(), policy.variables, cancelled ? &cancelled : nullptr);
    cel::Budget budget;
    return evaluate(scope, mutation.expression, budget, mutation.json_patch ? ResultForm::kPatch : ResultForm::kObject);
  }

  PatchError patch(Evaluated evaluated, const Mutation& mutation) {
    if (mutation.json_patch) return apply_json_patch(write_.object(), evaluated.value.get_array(), form_);
    return apply_configuration(write_.object(), std::move(evaluated.value.get_object()), form_, evaluated.go_values);
  }

  // Switches to the version that the rule names. Unlike upstream, which changes one copy for each version and keeps only the last copy,
  // each call gets the changes of the previous calls.
  Task<Status> prepare(const Invocation& invocation) {
    const ServedAs* as = invocation.as;
    const GroupVersionResource& resource = as == nullptr ? attributes_.resource : as->resource;
    form_ = {served_type(source_.host(), resource, as == nullptr ? attributes_.kind : as->kind), false};
    form_.has_type = (as != nullptr || attributes_.operation != AdmissionOperation::kConnect) && is_described(form_.kind, resource);
    auto switching = write_.switch_to(form_.kind);
    Status switched = co_await std::move(switching);
    shown_ = {write_.objects(), as};
    co_return switched;
  }

  // Upstream takes types from the OpenAPI document of the kind's group version. That document has no kinds of subresources in other groups,
  // and no options of connects.
  static bool is_described(const GroupVersionKind& kind, const GroupVersionResource& resource) {
    return kind.group == resource.group && kind.version == resource.version;
  }

  PolicySource& source_;
  AdmissionAttributes& attributes_;
  const std::shared_ptr<const PolicyIndex> index_;
  const std::shared_ptr<const ResourceTargets> targets_;
  PolicyRequest request_;
  std::vector<Invocation> invocations_;
  std::vector<PolicyProblem> problems_;
  VersionedWrite write_;
  // The state of the current call.
  NamedObjects shown_;
  ObjectForm form_;
};

}  // namespace

Task<Status> mutate_by_policies(PolicySource& source, AdmissionAttributes& attributes, std::shared_ptr<const PolicyIndex> index,
                                std::shared_ptr<const ResourceTargets> targets) {
  PolicyMutation mutation(source, attributes, std::move(index), std::move(targets));
  auto running = mutation.run();
  Status admitted = co_await std::move(running);
  co_return admitted;
}

}  // namespace backplane::admission::policies
