#include "policies/validating.hpp"

#include <optional>

#include "common/deadline.hpp"
#include "policies/policy_config.hpp"
#include "policies/policy_request.hpp"
#include "policies/validation_outcome.hpp"
#include "policies/validator.hpp"

namespace backplane::admission::policies {
namespace {

// The results of one policy. They take effect after all policies of the write are evaluated.
struct BindingResults {
  const Binding* binding = nullptr;  // null: of the policy
  std::string problem;
  std::vector<ValidationResult> results;
};
struct PolicyResults {
  const Policy* policy = nullptr;
  std::vector<BindingResults> bindings;
};

// Evaluates the policies for one write. attempt() evaluates from the beginning; if a value has to be awaited, the caller calls attempt()
// again after wait().
class PolicyValidation {
 public:
  PolicyValidation(PolicySource& source, const AdmissionAttributes& attributes, std::shared_ptr<const PolicyIndex> index,
                   std::shared_ptr<const ResourceTargets> targets)
      : index_(std::move(index)), targets_(std::move(targets)), logger_(source.host().logger()), request_(source, attributes) {}

  // Returns false if the request waits. failed_ is set if no decision can be made.
  bool attempt() {
    results_.clear();
    failed_ = Status();
    for (const PolicyTarget& target : targets_->targets) {
      add(target);
      if (request_.waits()) return false;
      if (!failed_.ok()) break;
    }
    return true;
  }
  Task<void> wait() { return request_.wait(); }

  Status finish() {
    if (!failed_.ok()) return std::move(failed_);
    if (results_.empty()) return {};
    ValidationOutcome outcome(request_.attributes(), logger_);
    for (const PolicyResults& each : results_) {
      for (const BindingResults& binding : each.bindings) {
        if (!binding.problem.empty()) outcome.add_problem(*each.policy, binding.binding, binding.problem);
        if (binding.binding != nullptr) outcome.add_results(*each.policy, *binding.binding, binding.results);
      }
      outcome.end_policy(*each.policy);
    }
    return unless_late(request_.attributes(), outcome.refusal());
  }

 private:
  void add(const PolicyTarget& target) {
    const Policy& policy = *target.hook->policy;
    PolicyRequest::Matched matched = request_.match(target.match);
    if (request_.waits() || (!matched.matches && matched.problem.empty())) return;
    PolicyResults results{&policy, {}};
    std::string problem = matched.problem.empty() ? target.hook->problem : std::move(matched.problem);
    if (!problem.empty()) {
      results.bindings.push_back({nullptr, std::move(problem), {}});
    } else {
      for (std::size_t i = 0; i < target.bindings.size() && failed_.ok(); ++i) {
        add_binding(target, i, matched.as, results);
        if (request_.waits()) return;
      }
    }
    if (!results.bindings.empty()) results_.push_back(std::move(results));
  }

  void add_binding(const PolicyTarget& target, std::size_t place, const ServedAs* as, PolicyResults& out) {
    const Policy& policy = *target.hook->policy;
    const Binding& binding = *target.hook->bindings[place];
    PolicyRequest::Matched matched = request_.match(target.bindings[place]);
    if (request_.waits()) return;
    const auto fail = [&](std::string problem) { out.bindings.push_back({&binding, std::move(problem), {}}); };
    if (!matched.problem.empty()) return fail(std::move(matched.problem));
    if (!matched.matches) return;
    CollectedParams params = request_.params(policy, binding, target.hook->params.get());
    if (request_.waits()) return;
    if (!params.problem.empty()) return fail(std::move(params.problem));
    auto objects = request_.versioned(as);
    if (request_.waits()) return;
    if (!objects.ok()) return fail("failed to convert object version: " + objects.status().message());
    auto ns = request_.namespace_object();
    if (request_.waits()) return;
    if (!ns.ok()) {
      failed_ = std::move(ns.status());
      return;
    }
    BindingResults results{&binding, {}, {}};
    for (const ObjectTreeRef& param : params.params) {
      results.results.push_back(validate_policy(policy, request_, *objects, param));
      if (request_.waits()) return;
    }
    out.bindings.push_back(std::move(results));
  }

  const std::shared_ptr<const PolicyIndex> index_;
  const std::shared_ptr<const ResourceTargets> targets_;
  Logger& logger_;
  PolicyRequest request_;
  std::vector<PolicyResults> results_;
  Status failed_;
};

class ValidatingPolicies final : public AdmissionPlugin {
 public:
  explicit ValidatingPolicies(std::shared_ptr<PolicySource> source) : source_(std::move(source)) {}

  std::string_view name() const noexcept override { return "ValidatingAdmissionPolicy"; }
  bool handles(AdmissionOperation) const noexcept override { return true; }
  bool mutates() const noexcept override { return false; }
  bool ready() const noexcept override { return source_->ready(); }
  bool reads_managed_fields() const noexcept override {
    const auto index = source_->index();
    return index != nullptr && index->reads_managed_fields();
  }

  std::optional<Status> validate_now(const AdmissionAttributes& attributes) const override {
    auto index = source_->index();
    auto targets = index->targets(attributes.resource, attributes.subresource);
    if (targets == nullptr) return Status();
    PolicyValidation validation(*source_, attributes, std::move(index), std::move(targets));
    if (!validation.attempt()) return std::nullopt;
    return validation.finish();
  }

  Task<Status> validate(const AdmissionAttributes& attributes) const override {
    auto index = source_->index();
    auto targets = index->targets(attributes.resource, attributes.subresource);
    if (targets == nullptr) co_return Status();
    PolicyValidation validation(*source_, attributes, std::move(index), std::move(targets));
    while (!validation.attempt()) {
      auto waiting = validation.wait();
      co_await std::move(waiting);
    }
    co_return validation.finish();
  }

 private:
  const std::shared_ptr<PolicySource> source_;
};

}  // namespace

Result<std::shared_ptr<AdmissionPlugin>> make_validating_policies(Services& services, const AdmissionPluginConfig& config) {
  auto directory =
      read_policy_config(config, "ValidatingAdmissionPolicyConfiguration", services.gate("ManifestBasedAdmissionControlConfig"));
  if (!directory.ok()) return std::move(directory.status());
  auto source = std::make_shared<PolicySource>(services, PolicyType::kValidating);
  if (Status started = source->start(*directory); !started.ok()) return started;
  return std::shared_ptr<AdmissionPlugin>(std::make_shared<ValidatingPolicies>(std::move(source)));
}

}  // namespace backplane::admission::policies
