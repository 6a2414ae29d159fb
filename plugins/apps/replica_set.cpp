// ReplicaSets.
#include "backplane/kit/strategy.hpp"
#include "backplane/kit/table.hpp"
#include "backplane/kit/walk.hpp"
#include "backplane/meta.hpp"
#include "backplane/workload/pod_defaults.hpp"
#include "backplane/workload/workload.hpp"
#include "kinds.hpp"
#include "shared.hpp"

namespace backplane::apps {
namespace {

using namespace kit;
using namespace workload;

class ReplicaSetStrategy final : public KindStrategy {
 public:
  explicit ReplicaSetStrategy(KindFacts facts, PodValidationOptions options = {}) : KindStrategy(std::move(facts)), options_(options) {}
  std::vector<std::string> warnings(const Object& object, const Object* old) const override { return named_workload_warnings(object, old); }
  void canonicalize(Object& object) const override { canonicalize_template(object); }
  void apply_defaults(Object& object) const override {
    apply_pod_template_defaults(ensure_object(ensure_object(object, "spec"), "template"));
  }

 protected:
  void check(const Object& object, FieldErrors& errors) const override {
    const Object& spec = object_or_empty(object, "spec");
    validate_workload_selector(spec, "deployment", true, errors);  // upstream's word, copied from deployments
    if (const Object* selector = get_object(spec, "selector"); selector && !is_valid_selector(*selector, "")) {
      errors.invalid_raw("spec.selector", to_json(*selector), "invalid label selector");
    }
    validate_workload_template(spec, options_, errors);
    validate_always_restarts(spec, errors);
  }

 private:
  PodValidationOptions options_;
};

class ReplicaSetStatusStrategy final : public StatusStrategy {
 public:
  explicit ReplicaSetStatusStrategy(std::shared_ptr<const Strategy> parent) : StatusStrategy(std::move(parent)) {}

 protected:
  void check_status(const Object& object, const Object&, FieldErrors& errors) const override {
    const Object& status = object_or_empty(object, "status");
    check_not_above(status, {"fullyLabeledReplicas", "readyReplicas", "availableReplicas"}, "replicas",
                    "cannot be greater than status.replicas", errors);
    check_not_above(status, {"availableReplicas"}, "readyReplicas", "cannot be greater than readyReplicas", errors);
  }
};

}  // namespace

KindRow replica_set_row(PodValidationOptions options) {
  return {
      .resource = "replicasets",
      .kind = "ReplicaSet",
      .short_names = {"rs"},
      .categories = {"all"},
      .facts = {.generation = true,
                .status = true,
                .columns = with_template_columns({name_column(), number_column("Desired", "Pods that are wanted.", ".spec.replicas"),
                                                  number_column("Current", "Pods there are.", ".status.replicas"),
                                                  number_column("Ready", "Pods that are ready.", ".status.readyReplicas"), age_column()})},
      .make = made<ReplicaSetStrategy>(options),
      .make_status = made_status<ReplicaSetStatusStrategy>,
      .scale = Host::ScalePaths{},
      .storage_prefix = "replicasets"};
}

}  // namespace backplane::apps
