// StatefulSets.
#include <algorithm>
#include <array>

#include "backplane/kit/strategy.hpp"
#include "backplane/kit/table.hpp"
#include "backplane/kit/walk.hpp"
#include "backplane/meta.hpp"
#include "backplane/names.hpp"
#include "backplane/workload/pod_defaults.hpp"
#include "backplane/workload/pod_validation.hpp"
#include "backplane/workload/printing.hpp"
#include "backplane/workload/warnings.hpp"
#include "backplane/workload/workload.hpp"
#include "strategies.hpp"

namespace backplane::apps {
namespace {

using namespace kit;
using namespace workload;

constexpr std::array<std::string_view, 7> kMutable = {
    "replicas",       "ordinals", "template", "updateStrategy", "revisionHistoryLimit", "persistentVolumeClaimRetentionPolicy",
    "minReadySeconds"};
constexpr std::string_view kFrozen =
    "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', "
    "'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";

void print_stateful_set(const Object& object, std::int64_t now, Array& cells) {
  const Object& spec = object_or_empty(object, "spec");
  const Object& pod_spec = object_or_empty(object_or_empty(spec, "template"), "spec");
  const std::int64_t ready = get_int_path(object, "status.readyReplicas").value_or(0);
  cells.emplace_back(meta_name(object));
  cells.emplace_back(std::to_string(ready) + "/" + std::to_string(get_int(spec, "replicas").value_or(0)));
  cells.emplace_back(age_of(object, now));
  cells.emplace_back(container_names(pod_spec));
  cells.emplace_back(container_images(pod_spec));
}

std::string print_update_strategy(const Object& strategy) {
  const Object* rolling = get_object(strategy, "rollingUpdate");
  std::string out = "{\"Type\":" + to_json(Value(get_string(strategy, "type"))) + ",\"RollingUpdate\":";
  if (rolling == nullptr) return out + "null}";
  const Value* unavailable = find(*rolling, "maxUnavailable");
  return out + "{\"Partition\":" + std::to_string(get_int(*rolling, "partition").value_or(0)) +
         ",\"MaxUnavailable\":" + (unavailable ? to_json(*unavailable) : "null") + "}}";
}

// The template with a volume for every claim template, as the pods will have it.
Object spec_with_claims(const Object& spec) {
  Object out(spec);
  Array volumes;
  each(spec, "volumeClaimTemplates", [&](const Object& claim, std::size_t) {
    Object volume;
    const std::string name(meta_name(claim));
    const auto same = [&](const Value& other) { return get_string(other.get_object(), "name") == name; };
    if (std::any_of(volumes.begin(), volumes.end(), same)) return;
    volume["name"] = name;
    Object source;
    source["claimName"] = name;
    volume["persistentVolumeClaim"] = std::move(source);
    volumes.emplace_back(std::move(volume));
  });
  if (volumes.empty()) return out;
  Object& pod_spec = ensure_object(ensure_object(out, "template"), "spec");
  if (const Array* own = get_array(pod_spec, "volumes")) {
    for (const Value& volume : *own) {
      const std::string_view name = volume.is_object() ? get_string(volume.get_object(), "name") : std::string_view();
      const bool replaced =
          std::any_of(volumes.begin(), volumes.end(), [&](const Value& claim) { return get_string(claim.get_object(), "name") == name; });
      if (!replaced) volumes.emplace_back(volume);
    }
  }
  pod_spec["volumes"] = std::move(volumes);
  return out;
}

void check_update_strategy(const Object& strategy, FieldErrors& errors) {
  const std::string_view type = get_string(strategy, "type");
  const Object* rolling = get_object(strategy, "rollingUpdate");
  if (type.empty()) {
    errors.required("spec.updateStrategy");
  } else if (type == "OnDelete") {
    if (rolling != nullptr) {
      errors.invalid_raw("spec.updateStrategy.rollingUpdate", to_json(*rolling), "only allowed for updateStrategy 'RollingUpdate'");
    }
  } else if (type != "RollingUpdate") {
    errors.invalid_raw("spec.updateStrategy", print_update_strategy(strategy), "must be 'RollingUpdate' or 'OnDelete'");
  } else if (rolling != nullptr) {
    check_not_negative(*rolling, "spec.updateStrategy.rollingUpdate", {"partition"}, errors);
  }
}

class StatefulSetStrategy final : public KindStrategy {
 public:
  explicit StatefulSetStrategy(PodValidationOptions options) : options_(options) {}
  // Its name becomes part of its pods' host names.
  NameRule name_rule() const override { return NameRule::kDnsLabel; }
  bool has_generation() const override { return true; }
  bool has_status() const override { return true; }
  const TableConvertor& table_convertor() const override {
    static const PrintedTable table(
        {name_column(), text_column("Ready", "Pods that are ready, of how many."), age_column(),
         text_column("Containers", "Names of the containers.", 1), text_column("Images", "Images of the containers.", 1)},
        print_stateful_set);
    return table;
  }
  std::vector<std::string> warnings(const Object& object, const Object* old) const override {
    Warnings out = workload_warnings(object, old);
    const Object& spec = object_or_empty(object, "spec");
    each(spec, "volumeClaimTemplates", [&](const Object& claim, std::size_t i) {
      const std::string path = at("spec.volumeClaimTemplates", i);
      warn_of_claim_spec(object_or_empty(claim, "spec"), old ? at(path, "Spec") : path, out);
    });
    if (get_int(spec, "revisionHistoryLimit").value_or(0) < 0) {
      out.emplace_back("spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended");
    }
    return out;
  }
  void canonicalize(Object& object) const override { canonicalize_template(object); }
  void apply_defaults(Object& object) const override {
    Object& spec = ensure_object(object, "spec");
    fill(spec, "podManagementPolicy", "OrderedReady");
    Object& strategy = ensure_object(spec, "updateStrategy");
    if (get_string(strategy, "type").empty()) {
      strategy["type"] = "RollingUpdate";
      ensure_object(strategy, "rollingUpdate");
    }
    if (get_string(strategy, "type") == "RollingUpdate") {
      if (Object* rolling = mutable_object(strategy, "rollingUpdate")) fill_missing(*rolling, "partition", 0);
    }
    Object& retention = ensure_object(spec, "persistentVolumeClaimRetentionPolicy");
    fill(retention, "whenDeleted", "Retain");
    fill(retention, "whenScaled", "Retain");
    fill_missing(spec, "replicas", 1);
    fill_missing(spec, "revisionHistoryLimit", 10);
    apply_pod_template_defaults(ensure_object(spec, "template"));
    each_mutable(spec, "volumeClaimTemplates", [](Object& claim) {
      claim["kind"] = "PersistentVolumeClaim";
      claim["apiVersion"] = "v1";
      apply_claim_spec_defaults(ensure_object(claim, "spec"));
      fill(ensure_object(claim, "status"), "phase", "Pending");
    });
  }

 protected:
  void check(const Object& object, FieldErrors& errors) const override {
    const Object& spec = object_or_empty(object, "spec");
    const std::string_view policy = get_string(spec, "podManagementPolicy");
    if (policy.empty())
      errors.required("spec.podManagementPolicy");
    else if (policy != "OrderedReady" && policy != "Parallel") {
      errors.invalid("spec.podManagementPolicy", policy, "must be 'OrderedReady' or 'Parallel'");
    }
    check_update_strategy(object_or_empty(spec, "updateStrategy"), errors);
    for (std::string_view when : {"whenDeleted", "whenScaled"}) {
      check_one_of(object_or_empty(spec, "persistentVolumeClaimRetentionPolicy"), when, "spec.persistentVolumeClaimRetentionPolicy",
                   {"Retain", "Delete"}, errors);
    }
    check_not_negative(spec, "spec", {"replicas", "minReadySeconds"}, errors);
    check_not_negative(object_or_empty(spec, "ordinals"), "spec.ordinals", {"start"}, errors);
    validate_workload_selector(spec, "statefulset", true, errors);
    if (const Object* selector = get_object(spec, "selector"); selector && !is_valid_selector(*selector, "")) {
      errors.invalid_raw("spec.selector", to_json(*selector), "");
    }
    const Object whole = spec_with_claims(spec);
    validate_workload_template(whole, options_, errors);
    // Upstream looks at the template's labels twice, once on their own.
    const Object& metadata = object_or_empty(object_or_empty(spec, "template"), "metadata");
    validate_labels(object_or_empty(metadata, "labels"), "spec.template.labels", errors);
    validate_annotations(object_or_empty(metadata, "annotations"), "spec.template.annotations", errors);
    validate_always_restarts(spec, errors);
  }
  // What can never change is looked at once.
  void check_new(const Object& object, FieldErrors& errors) const override {
    const Object& spec = object_or_empty(object, "spec");
    if (const std::string_view service = get_string(spec, "serviceName"); !service.empty()) {
      add_problems(is_dns1123_label(service), "spec.serviceName", service, errors);
    }
    each(spec, "volumeClaimTemplates", [&](const Object& claim, std::size_t i) {
      validate_claim_spec(object_or_empty(claim, "spec"), at(at("spec.volumeClaimTemplates", i), "spec"), errors);
    });
  }
  void check_change(const Object& object, const Object& old, FieldErrors& errors) const override {
    Object now(object_or_empty(object, "spec")), before(object_or_empty(old, "spec"));
    for (std::string_view key : kMutable) {
      erase_member(now, key);
      erase_member(before, key);
    }
    if (now != before) errors.forbidden("spec", kFrozen);
  }

 private:
  PodValidationOptions options_;
};

class StatefulSetStatusStrategy final : public StatusStrategy {
 public:
  StatefulSetStatusStrategy() : StatusStrategy(stateful_set_strategy()) {}

 protected:
  void check_status(const Object& object, const Object&, FieldErrors& errors) const override {
    const Object& status = object_or_empty(object, "status");
    check_not_negative(
        status, "status",
        {"replicas", "readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas", "observedGeneration", "collisionCount"},
        errors);
    const std::int64_t total = get_int(status, "replicas").value_or(0), ready = get_int(status, "readyReplicas").value_or(0);
    const std::int64_t available = get_int(status, "availableReplicas").value_or(0);
    for (std::string_view name : {"readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"}) {
      const std::int64_t count = get_int(status, name).value_or(0);
      if (count > total) errors.invalid(at("status", name), static_cast<long long>(count), "cannot be greater than status.replicas");
    }
    if (available > ready) {
      errors.invalid("status.availableReplicas", static_cast<long long>(available), "cannot be greater than status.readyReplicas");
    }
  }
};

}  // namespace

std::shared_ptr<const Strategy> stateful_set_strategy(PodValidationOptions options) {
  return std::make_shared<StatefulSetStrategy>(options);
}
std::shared_ptr<const Strategy> stateful_set_status_strategy() { return std::make_shared<StatefulSetStatusStrategy>(); }

}  // namespace backplane::apps
