// Deployments.
#include "backplane/kit/strategy.hpp"
#include "backplane/kit/table.hpp"
#include "backplane/kit/walk.hpp"
#include "backplane/meta.hpp"
#include "backplane/names.hpp"
#include "backplane/workload/pod_defaults.hpp"
#include "backplane/workload/workload.hpp"
#include "shared.hpp"
#include "strategies.hpp"

namespace backplane::apps {
namespace {

using namespace kit;
using namespace workload;

void print_deployment(const Object& object, std::int64_t now, Array& cells) {
  const Object& spec = object_or_empty(object, "spec");
  const Object& status = object_or_empty(object, "status");
  cells.emplace_back(meta_name(object));
  cells.emplace_back(std::to_string(get_int(status, "readyReplicas").value_or(0)) + "/" +
                     std::to_string(get_int(spec, "replicas").value_or(0)));
  cells.emplace_back(get_int(status, "updatedReplicas").value_or(0));
  cells.emplace_back(get_int(status, "availableReplicas").value_or(0));
  cells.emplace_back(age_of(object, now));
  add_template_cells(spec, cells);
}

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
  explicit DeploymentStrategy(PodValidationOptions options) : options_(options) {}
  bool has_generation() const override { return true; }
  bool has_status() const override { return true; }
  const TableConvertor& table_convertor() const override {
    static const PrintedTable table(
        with_template_columns({name_column(), text_column("Ready", "Pods that are ready, of how many."),
                               text_column("Up-to-date", "Pods made from the current template."),
                               text_column("Available", "Pods that have been ready long enough."), age_column()}),
        print_deployment);
    return table;
  }
  std::vector<std::string> warnings(const Object& object, const Object* old) const override { return named_workload_warnings(object, old); }
  void canonicalize(Object& object) const override { canonicalize_template(object); }
  void apply_defaults(Object& object) const override {
    Object& spec = ensure_object(object, "spec");
    fill_missing(spec, "replicas", 1);
    Object& strategy = ensure_object(spec, "strategy");
    fill(strategy, "type", "RollingUpdate");
    if (get_string(strategy, "type") == "RollingUpdate") {
      Object& rolling = ensure_object(strategy, "rollingUpdate");
      fill_missing(rolling, "maxUnavailable", "25%");
      fill_missing(rolling, "maxSurge", "25%");
    }
    fill_missing(spec, "revisionHistoryLimit", 10);
    fill_missing(spec, "progressDeadlineSeconds", 600);
    apply_pod_template_defaults(ensure_object(spec, "template"));
  }

 protected:
  void check(const Object& object, FieldErrors& errors) const override {
    const Object& spec = object_or_empty(object, "spec");
    check_not_negative(spec, "spec", {"replicas"}, errors);
    validate_workload_selector(spec, "deployment", true, errors);
    if (const Object* selector = get_object(spec, "selector"); selector && !is_valid_selector(*selector, "")) {
      errors.invalid_raw("spec.selector", to_json(*selector), "invalid label selector");
    }
    validate_workload_template(spec, options_, errors);
    validate_always_restarts(spec, errors);
    check_strategy(object_or_empty(spec, "strategy"), errors);
    check_not_negative(spec, "spec", {"minReadySeconds", "revisionHistoryLimit"}, errors);
    check_deadline(spec, errors);
  }
  void check_change(const Object& object, const Object& old, FieldErrors& errors) const override {
    check_immutable(find(object_or_empty(object, "spec"), "selector"), find(object_or_empty(old, "spec"), "selector"), "spec.selector",
                    errors);
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
      errors.add({FieldErrorType::kNotSupported, "spec.strategy",
                  "Unsupported value: " + print_rolling_update(strategy) + ": supported values: \"Recreate\", \"RollingUpdate\""});
    }
  }
  static void check_deadline(const Object& spec, FieldErrors& errors) {
    const auto deadline = get_int(spec, "progressDeadlineSeconds");
    if (!deadline) return;
    check_not_negative(spec, "spec", {"progressDeadlineSeconds"}, errors);
    if (*deadline <= get_int(spec, "minReadySeconds").value_or(0)) {
      errors.invalid("spec.progressDeadlineSeconds", static_cast<long long>(*deadline), "must be greater than minReadySeconds");
    }
  }

  PodValidationOptions options_;
};

class DeploymentStatusStrategy final : public StatusStrategy {
 public:
  DeploymentStatusStrategy() : StatusStrategy(deployment_strategy(), {"labels"}) {}

 protected:
  void check_status(const Object& object, const Object& old, FieldErrors& errors) const override {
    const Object& status = object_or_empty(object, "status");
    check_not_negative(status, "status",
                       {"observedGeneration", "replicas", "updatedReplicas", "readyReplicas", "availableReplicas", "unavailableReplicas",
                        "terminatingReplicas", "collisionCount"},
                       errors);
    const std::int64_t total = get_int(status, "replicas").value_or(0), ready = get_int(status, "readyReplicas").value_or(0);
    const std::int64_t available = get_int(status, "availableReplicas").value_or(0);
    for (std::string_view name : {"updatedReplicas", "readyReplicas", "availableReplicas"}) {
      const std::int64_t count = get_int(status, name).value_or(0);
      if (count > total) errors.invalid(at("status", name), static_cast<long long>(count), "cannot be greater than status.replicas");
    }
    if (available > ready)
      errors.invalid("status.availableReplicas", static_cast<long long>(available), "cannot be greater than readyReplicas");
    const std::int64_t before = get_int_path(old, "status.collisionCount").value_or(0);
    const std::int64_t now = get_int(status, "collisionCount").value_or(0);
    if (now < before) errors.invalid("status.collisionCount", static_cast<long long>(now), "cannot be decremented");
  }
};

}  // namespace

std::shared_ptr<const Strategy> deployment_strategy(PodValidationOptions options) { return std::make_shared<DeploymentStrategy>(options); }
std::shared_ptr<const Strategy> deployment_status_strategy() { return std::make_shared<DeploymentStatusStrategy>(); }

}  // namespace backplane::apps
