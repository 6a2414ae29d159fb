// Pods: what may change, how they end, and what their subresources touch.
#include <algorithm>
#include <limits>

#include "backplane/kit/pod_defaults.hpp"
#include "backplane/kit/pod_validation.hpp"
#include "backplane/kit/strategy.hpp"
#include "backplane/kit/walk.hpp"
#include "backplane/kit/warnings.hpp"
#include "backplane/meta.hpp"
#include "backplane/names.hpp"
#include "kinds/strategies.hpp"
#include "pods/qos.hpp"
#include "pods/table.hpp"

namespace backplane::core {
namespace {

using namespace kit;

constexpr std::int64_t kDefaultGraceSeconds = 30;
constexpr std::string_view kMayChange =
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,"
    "`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was "
    "previously negative)";

std::size_t items(const Object& parent, std::string_view key) {
  const Array* list = get_array(parent, key);
  return list ? list->size() : 0;
}

void check_deadline(const Object& spec, const Object& before, FieldErrors& errors) {
  const auto now = get_int(spec, "activeDeadlineSeconds"), old = get_int(before, "activeDeadlineSeconds");
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (now && (*now < 0 || *now > kMost)) {
    errors.invalid("spec.activeDeadlineSeconds", static_cast<long long>(*now), "must be between 0 and 2147483647, inclusive");
  } else if (now && old && *old < *now) {
    errors.invalid("spec.activeDeadlineSeconds", static_cast<long long>(*now), "must be less than or equal to previous value");
  } else if (!now && old) {
    errors.invalid_raw("spec.activeDeadlineSeconds", "null", "must not update from a positive integer to nil value");
  }
}

// Tolerations may only be added; of the old ones just the seconds may change.  The first that is gone is blamed for all.
void check_tolerations(const Object& spec, const Object& before, FieldErrors& errors) {
  bool all_kept = true;
  each(before, "tolerations", [&](const Object& old, std::size_t) {
    bool kept = false;
    each(spec, "tolerations", [&](const Object& toleration, std::size_t) {
      Object a(toleration), b(old);
      erase_member(a, "tolerationSeconds");
      erase_member(b, "tolerationSeconds");
      kept = kept || a == b;
    });
    all_kept = all_kept && kept;
  });
  if (!all_kept) {
    errors.forbidden("spec.tolerations", "existing toleration can not be modified except its tolerationSeconds");
    return;
  }
  validate_tolerations(spec, "spec", errors);  // once more, as upstream does
}

// The new spec with everything that may change set back.
Object without_allowed_changes(const Object& spec, const Object& before) {
  Object out(spec);
  for (std::string_view list : {"containers", "initContainers"}) {
    const Array* old = get_array(before, list);
    Value* now = find(out, list);
    if (old == nullptr || now == nullptr || !now->is_array()) continue;
    for (std::size_t i = 0; i < now->get_array().size() && i < old->size(); ++i) {
      if (Object* container = now->get_array()[i].if_object()) take_member(*container, (*old)[i].get_object(), "image");
    }
  }
  take_member(out, before, "activeDeadlineSeconds");
  take_member(out, before, "tolerations");
  const auto grace = get_int(before, "terminationGracePeriodSeconds");
  if (grace && *grace < 0 && get_int(out, "terminationGracePeriodSeconds") == std::optional<std::int64_t>(1)) {
    take_member(out, before, "terminationGracePeriodSeconds");
  }
  return out;
}

// Members in any order are the same spec.
bool same_spec(const Object& a, const Object& b) { return a == b; }

void check_pod_change(const Object& object, const Object& old, FieldErrors& errors) {
  const Object& spec = object_or_empty(object, "spec");
  const Object& before = object_or_empty(old, "spec");
  if (items(spec, "containers") != items(before, "containers")) {
    errors.forbidden("spec.containers", "pod updates may not add or remove containers");
    return;
  }
  if (items(spec, "initContainers") != items(before, "initContainers")) {
    errors.forbidden("spec.initContainers", "pod updates may not add or remove containers");
    return;
  }
  for (std::string_view list : {"containers", "initContainers"}) {
    each(spec, list, [&](const Object& container, std::size_t i) {
      if (get_string(container, "image").empty()) errors.required(at(at(at("spec", list), i), "image"));
    });
  }
  const std::size_t so_far = errors.size();
  check_deadline(spec, before, errors);
  if (errors.size() != so_far) return;
  check_tolerations(spec, before, errors);
  if (!same_spec(without_allowed_changes(spec, before), before)) errors.forbidden("spec", kMayChange);
}

// Adds `{key, op, [value of the pod's label]}` to a selector for each key that the pod has.
void add_label_keys(Object& holder, std::string_view keys, std::string_view op, const Object& labels) {
  const Array* list = get_array(holder, keys);
  if (list == nullptr || !has(holder, "labelSelector")) return;
  const Array copy(*list);
  for (const Value& key : copy) {
    const Value* value = find(labels, text_of(key));
    if (value == nullptr) continue;
    Object requirement;
    requirement["key"] = key;
    requirement["operator"] = op;
    requirement["values"] = Array{*value};
    ensure_array(ensure_object(holder, "labelSelector"), "matchExpressions").emplace_back(std::move(requirement));
  }
}

// matchLabelKeys and mismatchLabelKeys stand for the pod's own labels, once and for all.
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

class PodStrategy final : public Strategy {
 public:
  bool has_generation() const override { return true; }
  bool has_status() const override { return true; }
  std::vector<SelectableField> selectable_fields() const override {
    return {{"spec.nodeName", "spec.nodeName", ""},
            {"spec.host", "spec.nodeName", ""},  // the field's name in old clients
            {"spec.restartPolicy", "spec.restartPolicy", ""},
            {"spec.schedulerName", "spec.schedulerName", ""},
            {"spec.serviceAccountName", "spec.serviceAccountName", ""},
            {"spec.hostNetwork", "spec.hostNetwork", "false"},
            {"status.phase", "status.phase", ""},
            {"status.podIP", "status.podIP", ""},
            {"status.podIPs", "status.podIP", ""},
            {"status.nominatedNodeName", "status.nominatedNodeName", ""}};
  }
  const TableConvertor& table_convertor() const override { return pod_table(); }
  // People write pods, programs update them: only what is new is looked at.
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
  void prepare_for_create(RequestContext&, Object& object) const override {
    apply_label_keys(object);
    Object& status = object["status"].emplace_object();
    status["phase"] = "Pending";
    status["qosClass"] = qos_class(object_or_empty(object, "spec"));
  }
  void validate(RequestContext&, const Object& object, FieldErrors& errors) const override {
    check_finalizer_names(object, errors);
    validate_pod_spec(object_or_empty(object, "spec"), "spec", meta_name(object), errors);
    if (items(object_or_empty(object, "spec"), "ephemeralContainers") > 0) {
      errors.forbidden("spec.ephemeralContainers", "cannot be set on create");
    }
  }
  void validate_update(RequestContext&, const Object& object, const Object& old, FieldErrors& errors) const override {
    validate_object_meta(object, true, name_rule(), errors);  // upstream's update rules hold the create rules whole
    check_finalizer_names(object, errors);
    validate_pod_spec(object_or_empty(object, "spec"), "spec", meta_name(object), errors);
    check_pod_change(object, old, errors);
  }

  bool check_graceful_delete(RequestContext&, const Object& object, DeleteOptions& options) const override {
    std::int64_t seconds =
        options.grace_period_seconds.value_or(get_int_path(object, "spec.terminationGracePeriodSeconds").value_or(kDefaultGraceSeconds));
    if (seconds < 0) seconds = 1;
    const std::string_view phase = get_string_path(object, "status.phase");
    // Nobody would report the end of a pod that runs nowhere, or no more.
    if (get_string_path(object, "spec.nodeName").empty() || phase == "Failed" || phase == "Succeeded") seconds = 0;
    options.grace_period_seconds = seconds;
    return true;
  }
};

// PATCH and PUT on /ephemeralcontainers: containers are added there, and stay.
class EphemeralContainersStrategy final : public Strategy {
 public:
  bool has_generation() const override { return true; }
  void apply_defaults(Object& object) const override { apply_pod_spec_defaults(ensure_object(object, "spec")); }
  void prepare_for_update(RequestContext&, Object& object, const Object& old) const override {
    Object spec(object_or_empty(old, "spec"));
    take_member(spec, object_or_empty(object, "spec"), "ephemeralContainers");
    object["spec"] = std::move(spec);
    take_member(object, old, "status");
  }
  void validate_update(RequestContext&, const Object& object, const Object& old, FieldErrors& errors) const override {
    const Object& spec = object_or_empty(object, "spec");
    validate_pod_spec(spec, "spec", meta_name(object), errors);
    each(object_or_empty(old, "spec"), "ephemeralContainers", [&](const Object& before, std::size_t) {
      const Object* now = nullptr;
      each(spec, "ephemeralContainers", [&](const Object& container, std::size_t) {
        if (get_string(container, "name") == get_string(before, "name")) now = &container;
      });
      const std::string name = quoted(get_string(before, "name"));
      if (now == nullptr)
        errors.forbidden("spec.ephemeralContainers", "existing ephemeral containers " + name + " may not be removed\n");
      else if (*now != before)
        errors.forbidden("spec.ephemeralContainers", "existing ephemeral containers " + name + " may not be changed\n");
    });
  }
};

class BindingStrategy final : public Strategy {};

}  // namespace

std::shared_ptr<const Strategy> pod_strategy() { return std::make_shared<PodStrategy>(); }
std::shared_ptr<const Strategy> pod_ephemeral_containers_strategy() { return std::make_shared<EphemeralContainersStrategy>(); }
std::shared_ptr<const Strategy> pod_binding_strategy() { return std::make_shared<BindingStrategy>(); }

}  // namespace backplane::core
