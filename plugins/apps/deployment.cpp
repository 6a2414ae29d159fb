// Deployments.
#include "backplane/kit/walk.hpp"
#include "backplane/workload/strategy.hpp"
#include "backplane/workload/workload.hpp"
#include "kinds.hpp"

namespace backplane::apps {
namespace {

using namespace kit;
using namespace workload;

class DeploymentStrategy final : public WorkloadStrategy {
 public:
  using WorkloadStrategy::WorkloadStrategy;

 protected:
  void check(const Object& object, FieldErrors& errors) const override {
    WorkloadStrategy::check(object, errors);
    const Object& spec = object_or_empty(object, "spec");
    const Object& strategy = object_or_empty(spec, "strategy");
    const Object* rolling = get_object(strategy, "rollingUpdate");
    if (rolling != nullptr && get_string(strategy, "type") == "RollingUpdate") check_rolling(*rolling, errors);
    const auto deadline = get_int(spec, "progressDeadlineSeconds");
    if (deadline && *deadline <= get_int(spec, "minReadySeconds").value_or(0)) {
      errors.invalid("spec.progressDeadlineSeconds", static_cast<long long>(*deadline), "must be greater than minReadySeconds");
    }
  }

 private:
  static void check_rolling(const Object& rolling, FieldErrors& errors) {
    const std::string unavailable_path = "spec.strategy.rollingUpdate.maxUnavailable";
    const Value* unavailable = find(rolling, "maxUnavailable");
    const Value* surge = find(rolling, "maxSurge");
    validate_int_or_percent(unavailable, unavailable_path, errors);
    validate_int_or_percent(surge, "spec.strategy.rollingUpdate.maxSurge", errors);
    const auto zero = [](const Value* value) { return value == nullptr || *value == Value(0) || text_of(*value) == "0%"; };
    if (zero(unavailable) && zero(surge)) {
      errors.invalid_raw(unavailable_path, print_int_or_string(unavailable), "may not be 0 when `maxSurge` is 0");
    }
    validate_not_over_hundred_percent(unavailable, unavailable_path, errors);
  }
};

}  // namespace

KindCode deployment_code(PodValidationOptions options) {
  constexpr WorkloadFacts kWorkload{.selector_kind = "deployment", .bad_selector = "invalid label selector", .names_hosts = true};
  return {.make = made<DeploymentStrategy>(kWorkload, options)};
}

}  // namespace backplane::apps
