// ReplicaSets.
#include "backplane/kit/strategy.hpp"
#include "backplane/kit/table.hpp"
#include "backplane/kit/walk.hpp"
#include "backplane/meta.hpp"
#include "backplane/workload/pod_defaults.hpp"
#include "backplane/workload/workload.hpp"
#include "shared.hpp"
#include "strategies.hpp"

namespace backplane::apps {
namespace {

using namespace kit;
using namespace workload;

void print_replica_set(const Object& object, std::int64_t now, Array& cells) {
  const Object& spec = object_or_empty(object, "spec");
  cells.emplace_back(meta_name(object));
  cells.emplace_back(get_int(spec, "replicas").value_or(0));
  cells.emplace_back(get_int_path(object, "status.replicas").value_or(0));
  cells.emplace_back(get_int_path(object, "status.readyReplicas").value_or(0));
  cells.emplace_back(age_of(object, now));
  add_template_cells(spec, cells);
}

class ReplicaSetStrategy final : public KindStrategy {
 public:
  explicit ReplicaSetStrategy(PodValidationOptions options) : options_(options) {}
  bool has_generation() const override { return true; }
  bool has_status() const override { return true; }
  const TableConvertor& table_convertor() const override {
    static const PrintedTable table(
        with_template_columns({name_column(), number_column("Desired", "Pods that are wanted."),
                               number_column("Current", "Pods there are."), number_column("Ready", "Pods that are ready."), age_column()}),
        print_replica_set);
    return table;
  }
  std::vector<std::string> warnings(const Object& object, const Object* old) const override { return named_workload_warnings(object, old); }
  void canonicalize(Object& object) const override { canonicalize_template(object); }
  void apply_defaults(Object& object) const override {
    Object& spec = ensure_object(object, "spec");
    fill_missing(spec, "replicas", 1);
    apply_pod_template_defaults(ensure_object(spec, "template"));
  }

 protected:
  void check(const Object& object, FieldErrors& errors) const override {
    const Object& spec = object_or_empty(object, "spec");
    check_not_negative(spec, "spec", {"replicas", "minReadySeconds"}, errors);
    validate_workload_selector(spec, "deployment", true, errors);  // upstream's word, copied from deployments
    if (const Object* selector = get_object(spec, "selector"); selector && !is_valid_selector(*selector, "")) {
      errors.invalid_raw("spec.selector", to_json(*selector), "invalid label selector");
    }
    validate_workload_template(spec, options_, errors);
    validate_always_restarts(spec, errors);
  }
  void check_change(const Object& object, const Object& old, FieldErrors& errors) const override {
    check_immutable(find(object_or_empty(object, "spec"), "selector"), find(object_or_empty(old, "spec"), "selector"), "spec.selector",
                    errors);
  }

 private:
  PodValidationOptions options_;
};

class ReplicaSetStatusStrategy final : public StatusStrategy {
 public:
  ReplicaSetStatusStrategy() : StatusStrategy(replica_set_strategy()) {}

 protected:
  void check_status(const Object& object, const Object&, FieldErrors& errors) const override {
    const Object& status = object_or_empty(object, "status");
    check_not_negative(
        status, "status",
        {"replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas", "terminatingReplicas", "observedGeneration"}, errors);
    const std::int64_t total = get_int(status, "replicas").value_or(0), ready = get_int(status, "readyReplicas").value_or(0);
    const std::int64_t available = get_int(status, "availableReplicas").value_or(0);
    for (std::string_view name : {"fullyLabeledReplicas", "readyReplicas", "availableReplicas"}) {
      const std::int64_t count = get_int(status, name).value_or(0);
      if (count > total) errors.invalid(at("status", name), static_cast<long long>(count), "cannot be greater than status.replicas");
    }
    if (available > ready)
      errors.invalid("status.availableReplicas", static_cast<long long>(available), "cannot be greater than readyReplicas");
  }
};

}  // namespace

std::shared_ptr<const Strategy> replica_set_strategy(PodValidationOptions options) { return std::make_shared<ReplicaSetStrategy>(options); }
std::shared_ptr<const Strategy> replica_set_status_strategy() { return std::make_shared<ReplicaSetStatusStrategy>(); }

}  // namespace backplane::apps
