// Pods: strategies of updates, deletion and subresources.
#include <algorithm>

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/kit/strategy.hpp"
#include "backplane/types/names.hpp"
#include "backplane/types/struct_difference.hpp"
#include "backplane/workload/host_sysctls.hpp"
#include "backplane/workload/pod_annotations.hpp"
#include "backplane/workload/pod_defaults.hpp"
#include "backplane/workload/pod_validation.hpp"
#include "backplane/workload/warnings.hpp"
#include "kinds/kinds.hpp"
#include "pods/change.hpp"
#include "pods/qos.hpp"
#include "pods/table.hpp"

namespace backplane::core {
namespace {

using namespace kit;
using namespace workload;

constexpr std::int64_t kDefaultGraceSeconds = 30;
// Upstream's text for the path of the object itself.
constexpr const char* kRoot = "[]";
// Adds `{key, op, [value of the pod's label]}` to a selector for each key that the pod has.
void add_label_keys(Object& holder, std::string_view keys, std::string_view op, const Object& labels) {
  if (!has(holder, "labelSelector")) return;
  for (const std::string& key : texts_of(holder, keys)) {
    const Value* value = find(labels, key);
    if (value == nullptr) continue;
    Object requirement;
    requirement["key"] = key;
    requirement["operator"] = op;
    requirement["values"] = Array{*value};
    ensure_array(ensure_object(holder, "labelSelector"), "matchExpressions").emplace_back(std::move(requirement));
  }
}

// On create, adds requirements for the labels that matchLabelKeys and mismatchLabelKeys name to the label selectors.
void apply_label_keys(Object& pod) {
  const Object labels(object_or_empty(object_or_empty(pod, "metadata"), "labels"));
  Object& spec = ensure_object(pod, "spec");
  each_mutable(spec, "topologySpreadConstraints", [&](Object& constraint) { add_label_keys(constraint, "matchLabelKeys", "In", labels); });
  Object* affinity = mutable_object(spec, "affinity");
  if (affinity == nullptr) return;
  const auto apply = [&](Object& term) {
    add_label_keys(term, "matchLabelKeys", "In", labels);
    add_label_keys(term, "mismatchLabelKeys", "NotIn", labels);
  };
  for (std::string_view kind : {"podAffinity", "podAntiAffinity"}) {
    Object* found = mutable_object(*affinity, kind);
    if (found == nullptr) continue;
    each_mutable(*found, "requiredDuringSchedulingIgnoredDuringExecution", apply);
    each_mutable(*found, "preferredDuringSchedulingIgnoredDuringExecution", [&](Object& preferred) {
      if (Object* term = mutable_object(preferred, "podAffinityTerm")) apply(*term);
    });
  }
}

// Adds the condition PodScheduled (False, SchedulingGated) if the new pod has scheduling gates.
void add_gated_condition(const Object& spec, Object& status) {
  if (count_of(spec, "schedulingGates") == 0) return;
  Object condition;
  condition["type"] = "PodScheduled";
  condition["status"] = "False";
  condition["lastProbeTime"] = nullptr;
  condition["lastTransitionTime"] = now_rfc3339();
  condition["reason"] = "SchedulingGated";
  condition["message"] = "Scheduling is blocked due to non-empty scheduling gates";
  status["conditions"] = Array{std::move(condition)};
}

const Object& annotations_of(const Object& pod) { return object_or_empty(object_or_empty(pod, "metadata"), "annotations"); }

// Each claim of a static pod is refused.
void check_static_claims(const Object& pod, FieldErrors& errors) {
  if (!has(annotations_of(pod), kMirrorAnnotation)) return;
  const std::size_t count = count_of(object_or_empty(pod, "spec"), "resourceClaims");
  for (std::size_t i = 0; i < count; ++i) errors.forbidden(kRoot, "static pods do not support resource claims");
}

class PodStrategy final : public Strategy {
 public:
  explicit PodStrategy(KindFacts facts, PodValidationOptions options = {}) : Strategy(std::move(facts)), options_(options) {}
  // An update has no warnings, because users create pods, but programs update them.
  std::vector<std::string> warnings(const Object& object, const Object* old) const override {
    Warnings out;
    if (old != nullptr) return out;
    warn_of_host_name(object, "the Pod's hostname", out);
    for (std::string& text : pod_warnings("", object)) out.push_back(std::move(text));
    return out;
  }
  void apply_defaults(Object& object) const override {
    apply_pod_spec_defaults(ensure_object(object, "spec"));
    apply_pod_only_defaults(object);
  }
  void canonicalize(Object& object) const override { canonicalize_pod_spec(ensure_object(object, "spec")); }
  void prepare_for_create(RequestContext& context, Object& object) const override {
    Object& status = object["status"].emplace_object();
    status["phase"] = "Pending";
    status["qosClass"] = qos_class(object_or_empty(object, "spec"));
    add_gated_condition(object_or_empty(object, "spec"), status);
    apply_label_keys(object);
    for (const std::string& text : take_app_armor_annotations(object)) context.warn(text);
  }
  void validate(RequestContext&, const Object& object, FieldErrors& errors) const override {
    check_finalizer_names(object, errors);
    const Object& spec = object_or_empty(object, "spec");
    check_static_claims(object, errors);
    validate_pod_annotations(annotations_of(object), spec, "metadata.annotations", nullptr, errors);
    validate_pod_spec(spec, "spec", meta_name(object), options_, errors);
    if (count_of(spec, "ephemeralContainers") > 0) errors.forbidden("spec.ephemeralContainers", "cannot be set on create");
    if (count_of(spec, "schedulingGates") > 0 && !get_string(spec, "nodeName").empty()) {
      errors.forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared");
    }
    validate_host_sysctls(spec, "spec", errors);
    validate_twofold_profiles(annotations_of(object), spec, "spec", errors);
  }
  void validate_update(RequestContext&, const Object& object, const Object& old, FieldErrors& errors) const override {
    // Upstream checks updates twice.
    check_finalizer_names(object, errors);
    check_finalizer_names(object, errors);
    const PodValidationOptions options = options_.for_update_of(object_or_empty(old, "spec"));
    check_static_claims(object, errors);
    // Upstream checks the annotations twice: as those of any pod, and as changed ones.
    validate_pod_annotations(annotations_of(object), object_or_empty(object, "spec"), "metadata.annotations", &annotations_of(old), errors);
    validate_pod_spec(object_or_empty(object, "spec"), "spec", meta_name(object), options, errors);
    validate_pod_annotation_changes(object, old, errors);
    check_pod_change(object, old, errors);
  }

  bool check_graceful_delete(RequestContext&, const Object& object, DeleteOptions& options) const override {
    std::int64_t seconds =
        options.grace_period_seconds.value_or(get_int_path(object, "spec.terminationGracePeriodSeconds").value_or(kDefaultGraceSeconds));
    if (seconds < 0) seconds = 1;
    const std::string_view phase = get_string_path(object, "status.phase");
    // No kubelet would report the end of a pod that was never bound or has ended.
    if (get_string_path(object, "spec.nodeName").empty() || phase == "Failed" || phase == "Succeeded") seconds = 0;
    options.grace_period_seconds = seconds;
    return true;
  }

 private:
  PodValidationOptions options_;
};

// PATCH and PUT on /ephemeralcontainers: containers can be added, but not removed.
class EphemeralContainersStrategy final : public Strategy {
 public:
  explicit EphemeralContainersStrategy(PodValidationOptions options)
      : Strategy({.generation = true, .has_tables = false}), options_(options) {}
  void apply_defaults(Object& object) const override {
    apply_pod_spec_defaults(ensure_object(object, "spec"));
    apply_pod_only_defaults(object);
  }
  void prepare_for_update(RequestContext&, Object& object, const Object& old) const override {
    Object spec(object_or_empty(old, "spec"));
    take_member(spec, object_or_empty(object, "spec"), "ephemeralContainers");
    object["spec"] = std::move(spec);
    take_member(object, old, "status");
    Object& metadata = ensure_object(object, "metadata");
    for (std::string_view member : {"labels", "annotations", "finalizers", "ownerReferences"}) {
      take_member(metadata, object_or_empty(old, "metadata"), member);
    }
  }
  void validate_update(RequestContext&, const Object& object, const Object& old, FieldErrors& errors) const override {
    if (has(annotations_of(old), kMirrorAnnotation)) {
      // Replaces all other errors.
      errors = FieldErrors();
      errors.forbidden(kRoot, "static pods do not support ephemeral containers");
      return;
    }
    const Schema& type = *core_schemas()->find("io.k8s.api.core.v1.EphemeralContainer");
    const Object& spec = object_or_empty(object, "spec");
    validate_pod_spec(spec, "spec", meta_name(object), options_.for_update_of(object_or_empty(old, "spec")), errors);
    each(object_or_empty(old, "spec"), "ephemeralContainers", [&](const Object& before, std::size_t) {
      const Object* now = find_item(spec, "ephemeralContainers", "name", get_string(before, "name"));
      const std::string name = quoted(get_string(before, "name"));
      if (now == nullptr) {
        errors.forbidden("spec.ephemeralContainers", "existing ephemeral containers " + name + " may not be removed\n");
      } else if (const auto difference = struct_difference(type, before, *now)) {
        errors.forbidden("spec.ephemeralContainers", "existing ephemeral containers " + name + " may not be changed\n" + *difference);
      }
    });
  }

 private:
  PodValidationOptions options_;
};

// The strategy of the server's own changes of a pod that is bound or evicted.
class BindingStrategy final : public Strategy {
 public:
  BindingStrategy() : Strategy({.checked = ObjectPart::kNone}) {}
  std::optional<WrittenFields> written_fields() const override { return WrittenFields{.recorded = false}; }
};

}  // namespace

std::shared_ptr<const Strategy> pod_ephemeral_containers_strategy(PodValidationOptions options) {
  return std::make_shared<EphemeralContainersStrategy>(options);
}
std::shared_ptr<const Strategy> pod_binding_strategy() { return std::make_shared<BindingStrategy>(); }

void add_pods(GroupCode& code, PodValidationOptions options) {
  code.kinds["Pod"] = {.make = made<PodStrategy>(options), .make_status = pod_status_strategy, .row_conditions = print_pod_conditions};
  add_pod_printers(code);
}

}  // namespace backplane::core
