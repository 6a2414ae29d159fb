// DaemonSets.
#include <charconv>

#include "backplane/kit/strategy.hpp"
#include "backplane/kit/table.hpp"
#include "backplane/kit/walk.hpp"
#include "backplane/meta.hpp"
#include "backplane/workload/pod_defaults.hpp"
#include "backplane/workload/warnings.hpp"
#include "backplane/workload/workload.hpp"
#include "kinds.hpp"
#include "shared.hpp"

namespace backplane::apps {
namespace {

using namespace kit;
using namespace workload;

// How often the template has changed, where clients of long ago look for it.
constexpr std::string_view kTemplateGeneration = "deprecated.daemonset.template.generation";

std::int64_t template_generation(const Object& object) {
  const Value* text = find_path(object, {"metadata", "annotations", kTemplateGeneration});
  if (text == nullptr) return 0;
  std::int64_t out = 0;
  const std::string_view digits = text_of(*text);
  std::from_chars(digits.data(), digits.data() + digits.size(), out);
  return out;
}

void set_template_generation(Object& object, std::int64_t generation) {
  ObjectMeta(object).mutable_annotations()[kTemplateGeneration] = std::to_string(generation);
}

void check_rolling(const Object& strategy, FieldErrors& errors) {
  const std::string path = "spec.updateStrategy.rollingUpdate";
  const Object* rolling = get_object(strategy, "rollingUpdate");
  if (rolling == nullptr) {
    errors.required(path);
    return;
  }
  const Value* unavailable = find(*rolling, "maxUnavailable");
  const Value* surge = find(*rolling, "maxSurge");
  validate_int_or_percent(unavailable, at(path, "maxUnavailable"), errors);
  validate_int_or_percent(surge, at(path, "maxSurge"), errors);
  validate_not_over_hundred_percent(unavailable, at(path, "maxUnavailable"), errors);
  validate_not_over_hundred_percent(surge, at(path, "maxSurge"), errors);
  const bool some_unavailable = number_or_percent(unavailable) != 0, some_surge = number_or_percent(surge) != 0;
  if (some_unavailable && some_surge) {
    errors.invalid_raw(at(path, "maxSurge"), print_int_or_string(surge), "may not be set when maxUnavailable is non-zero");
  } else if (!some_unavailable && !some_surge) {
    errors.required(at(path, "maxUnavailable"), "cannot be 0 when maxSurge is 0");
  }
}

class DaemonSetStrategy final : public KindStrategy {
 public:
  explicit DaemonSetStrategy(KindFacts facts, PodValidationOptions options = {}) : KindStrategy(std::move(facts)), options_(options) {}
  std::vector<std::string> warnings(const Object& object, const Object* old) const override {
    if (old != nullptr && template_generation(object) == template_generation(*old)) return {};
    return workload_warnings(object, nullptr);
  }
  void canonicalize(Object& object) const override { canonicalize_template(object); }
  void apply_defaults(Object& object) const override {
    Object& spec = ensure_object(object, "spec");
    Object& strategy = ensure_object(spec, "updateStrategy");
    if (get_string(strategy, "type") == "RollingUpdate") {
      Object& rolling = ensure_object(strategy, "rollingUpdate");
      fill_missing(rolling, "maxUnavailable", 1);
      fill_missing(rolling, "maxSurge", 0);
    }
    apply_pod_template_defaults(ensure_object(spec, "template"));
  }

 protected:
  void prepare_create(Object& object) const override { set_template_generation(object, 1); }
  void prepare_update(Object& object, const Object& old) const override {
    const bool changed = !same_member(object_or_empty(object, "spec"), object_or_empty(old, "spec"), "template");
    set_template_generation(object, template_generation(old) + (changed ? 1 : 0));
  }
  void check(const Object& object, FieldErrors& errors) const override {
    const Object& spec = object_or_empty(object, "spec");
    validate_workload_selector(spec, "daemonset", false, errors);
    validate_workload_template(spec, options_, errors);
    validate_always_restarts(spec, errors);
    const Object& strategy = object_or_empty(spec, "updateStrategy");
    const std::string_view type = get_string(strategy, "type");
    if (type == "RollingUpdate") {
      check_rolling(strategy, errors);
    } else if (type != "OnDelete") {
      errors.add({FieldErrorType::kNotSupported, "spec.updateStrategy",
                  "Unsupported value: " + print_struct("DaemonSetUpdateStrategy", strategy) +
                      ": supported values: \"RollingUpdate\", \"OnDelete\""});
    }
  }

 private:
  PodValidationOptions options_;
};

class DaemonSetStatusStrategy final : public StatusStrategy {
 public:
  explicit DaemonSetStatusStrategy(std::shared_ptr<const Strategy> parent) : StatusStrategy(std::move(parent)) {}
  void prepare_for_update(RequestContext& context, Object& object, const Object& old) const override {
    StatusStrategy::prepare_for_update(context, object, old);
    set_template_generation(object, template_generation(old));
  }
};

}  // namespace

KindRow daemon_set_row(PodValidationOptions options) {
  return {.resource = "daemonsets",
          .kind = "DaemonSet",
          .short_names = {"ds"},
          .categories = {"all"},
          .facts = {.generation = true,
                    .status = true,
                    .columns = with_template_columns(
                        {name_column(), number_column("Desired", "Nodes that should run a pod.", ".status.desiredNumberScheduled"),
                         number_column("Current", "Nodes that run a pod.", ".status.currentNumberScheduled"),
                         number_column("Ready", "Pods that are ready.", ".status.numberReady"),
                         number_column("Up-to-date", "Pods made from the current template.", ".status.updatedNumberScheduled"),
                         number_column("Available", "Pods that have been ready long enough.", ".status.numberAvailable"),
                         shown_column("Node Selector", "Labels of the nodes it runs on.", ".spec.template.spec.nodeSelector", show_labels),
                         age_column()})},
          .make = made<DaemonSetStrategy>(options),
          .make_status = made_status<DaemonSetStatusStrategy>,
          .storage_prefix = "daemonsets"};
}

}  // namespace backplane::apps
