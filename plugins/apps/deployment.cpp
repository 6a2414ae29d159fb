// Deployments.
#include "backplane/kit/strategy.hpp"
#include "backplane/kit/table.hpp"
#include "backplane/kit/walk.hpp"
#include "backplane/meta.hpp"
#include "backplane/names.hpp"
#include "backplane/workload/pod_defaults.hpp"
#include "backplane/workload/workload.hpp"
#include "kinds.hpp"
#include "shared.hpp"

namespace backplane::apps {
namespace {

using namespace kit;
using namespace workload;

void check_rolling(const Object& strategy, FieldErrors& errors) {
  const std::string path = "spec.strategy.rollingUpdate";
  const Object* rolling = get_object(strategy, "rollingUpdate");
  if (rolling == nullptr) {
    errors.required(path, "this should be defaulted and never be nil");
    return;
  }
  const Value* unavailable = find(*rolling, "maxUnavailable");
  const Value* surge = find(*rolling, "maxSurge");
  validate_int_or_percent(unavailable, at(path, "maxUnavailable"), errors);
  validate_int_or_percent(surge, at(path, "maxSurge"), errors);
  const auto zero = [](const Value* value) {
    return value == nullptr || (number_or_percent(value) == 0 && (value->is_int64() || to_json(*value) == "\"0%\""));
  };
  if (zero(unavailable) && zero(surge))
    errors.invalid_raw(at(path, "maxUnavailable"), print_int_or_string(unavailable), "may not be 0 when `maxSurge` is 0");
  validate_not_over_hundred_percent(unavailable, at(path, "maxUnavailable"), errors);
}

class DeploymentStrategy final : public KindStrategy {
 public:
  explicit DeploymentStrategy(KindFacts facts, PodValidationOptions options = {}) : KindStrategy(std::move(facts)), options_(options) {}
  std::vector<std::string> warnings(const Object& object, const Object* old) const override { return named_workload_warnings(object, old); }
  void canonicalize(Object& object) const override { canonicalize_template(object); }
  void apply_defaults(Object& object) const override {
    Object& spec = ensure_object(object, "spec");
    Object& strategy = ensure_object(spec, "strategy");
    if (get_string(strategy, "type") == "RollingUpdate") {
      Object& rolling = ensure_object(strategy, "rollingUpdate");
      fill_missing(rolling, "maxUnavailable", "25%");
      fill_missing(rolling, "maxSurge", "25%");
    }
    apply_pod_template_defaults(ensure_object(spec, "template"));
  }

 protected:
  void check(const Object& object, FieldErrors& errors) const override {
    const Object& spec = object_or_empty(object, "spec");
    validate_workload_selector(spec, "deployment", true, errors);
    if (const Object* selector = get_object(spec, "selector"); selector && !is_valid_selector(*selector, "")) {
      errors.invalid_raw("spec.selector", to_json(*selector), "invalid label selector");
    }
    validate_workload_template(spec, options_, errors);
    validate_always_restarts(spec, errors);
    check_strategy(object_or_empty(spec, "strategy"), errors);
    check_deadline(spec, errors);
  }

 private:
  static void check_strategy(const Object& strategy, FieldErrors& errors) {
    const std::string_view type = get_string(strategy, "type");
    if (type == "Recreate") {
      if (has(strategy, "rollingUpdate")) {
        errors.forbidden("spec.strategy.rollingUpdate", "may not be specified when strategy `type` is 'Recreate'");
      }
    } else if (type == "RollingUpdate") {
      check_rolling(strategy, errors);
    } else {
      errors.add(
          {FieldErrorType::kNotSupported, "spec.strategy",
           "Unsupported value: " + print_struct("DeploymentStrategy", strategy) + ": supported values: \"Recreate\", \"RollingUpdate\""});
    }
  }
  static void check_deadline(const Object& spec, FieldErrors& errors) {
    const auto deadline = get_int(spec, "progressDeadlineSeconds");
    if (deadline && *deadline <= get_int(spec, "minReadySeconds").value_or(0)) {
      errors.invalid("spec.progressDeadlineSeconds", static_cast<long long>(*deadline), "must be greater than minReadySeconds");
    }
  }

  PodValidationOptions options_;
};

class DeploymentStatusStrategy final : public StatusStrategy {
 public:
  explicit DeploymentStatusStrategy(std::shared_ptr<const Strategy> parent) : StatusStrategy(std::move(parent), {"labels"}) {}

 protected:
  void check_status(const Object& object, const Object& old, FieldErrors& errors) const override {
    const Object& status = object_or_empty(object, "status");
    check_not_above(status, {"updatedReplicas", "readyReplicas", "availableReplicas"}, "replicas", "cannot be greater than status.replicas",
                    errors);
    check_not_above(status, {"availableReplicas"}, "readyReplicas", "cannot be greater than readyReplicas", errors);
    const std::int64_t before = get_int_path(old, "status.collisionCount").value_or(0);
    const std::int64_t now = get_int(status, "collisionCount").value_or(0);
    if (now < before) errors.invalid("status.collisionCount", static_cast<long long>(now), "cannot be decremented");
  }
};

}  // namespace

KindRow deployment_row(PodValidationOptions options) {
  return {.resource = "deployments",
          .kind = "Deployment",
          .short_names = {"deploy"},
          .categories = {"all"},
          .facts = {.generation = true,
                    .status = true,
                    .columns = with_template_columns(
                        {name_column(), computed_column("Ready", "Pods that are ready, of how many.", print_ready),
                         count_column("Up-to-date", "Pods made from the current template.", ".status.updatedReplicas"),
                         count_column("Available", "Pods that have been ready long enough.", ".status.availableReplicas"), age_column()})},
          .make = made<DeploymentStrategy>(options),
          .make_status = made_status<DeploymentStatusStrategy>,
          .scale = Host::ScalePaths{},
          .storage_prefix = "deployments"};
}

}  // namespace backplane::apps
