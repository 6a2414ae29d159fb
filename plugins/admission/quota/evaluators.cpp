#include "quota/evaluators.hpp"

#include <algorithm>
#include <array>

namespace backplane::admission::quota {
namespace {

constexpr std::array<std::string_view, 10> kUncounted = {
    "bindings",
    "componentstatuses",
    "tokenreviews.authentication.k8s.io",
    "selfsubjectreviews.authentication.k8s.io",
    "subjectaccessreviews.authorization.k8s.io",
    "selfsubjectaccessreviews.authorization.k8s.io",
    "localsubjectaccessreviews.authorization.k8s.io",
    "selfsubjectrulesreviews.authorization.k8s.io",
    "events",
    "events.events.k8s.io",
};

// Resources that quotas also count under an older name than count/<resource>.
constexpr std::array<std::string_view, 4> kAliased = {"configmaps", "resourcequotas", "replicationcontrollers", "secrets"};

class CountEvaluator final : public Evaluator {
 public:
  explicit CountEvaluator(ResourceNames names) : names_(std::move(names)) {}
  bool handles(const AdmissionAttributes& attributes) const override {
    return attributes.subresource.empty() && attributes.operation == AdmissionOperation::kCreate;
  }
  ResourceNames matching_resources(const ResourceNames& names) const override {
    ResourceNames out;
    std::copy_if(names.begin(), names.end(), std::back_inserter(out), [this](const auto& name) { return contains(names_, name); });
    return out;
  }
  ResourceList usage(const Subject&) const override {
    ResourceList out;
    for (const std::string& name : names_) out.emplace(name, "1");
    return out;
  }

 private:
  const ResourceNames names_;
};

}  // namespace

std::string object_count_name(const GroupResource& resource) { return "count/" + resource.to_string(); }

std::unique_ptr<Evaluator> make_count_evaluator(ResourceNames names) { return std::make_unique<CountEvaluator>(std::move(names)); }

Evaluators::Evaluators(const Gates& gates, const DeviceClasses& classes) {
  evaluators_.emplace("pods", make_pod_evaluator(gates));
  evaluators_.emplace("services", make_service_evaluator());
  evaluators_.emplace("persistentvolumeclaims", make_volume_claim_evaluator());
  evaluators_.emplace("resourceclaims.resource.k8s.io", make_resource_claim_evaluator(gates, classes));
  for (const std::string_view name : kAliased) {
    evaluators_.emplace(name, make_count_evaluator({"count/" + std::string(name), std::string(name)}));
  }
}

std::shared_ptr<const Evaluator> Evaluators::of(const GroupResource& resource) const {
  const auto found = evaluators_.find(resource.to_string());
  if (found != evaluators_.end()) return found->second;
  return make_count_evaluator({object_count_name(resource)});
}

bool Evaluators::counts(const GroupResource& resource) {
  return std::find(kUncounted.begin(), kUncounted.end(), resource.to_string()) == kUncounted.end();
}

}  // namespace backplane::admission::quota
