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
#include "kinds.hpp"
#include "shared.hpp"

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
    errors.invalid_raw("spec.updateStrategy", print_struct("StatefulSetUpdateStrategy", strategy), "must be 'RollingUpdate' or 'OnDelete'");
  }
}

class StatefulSetStrategy final : public KindStrategy {
 public:
  explicit StatefulSetStrategy(KindFacts facts, PodValidationOptions options = {}) : KindStrategy(std::move(facts)), options_(options) {}
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
    Object& strategy = ensure_object(spec, "updateStrategy");
    if (get_string(strategy, "type").empty()) {
      strategy["type"] = "RollingUpdate";
      ensure_object(strategy, "rollingUpdate");
    }
    if (get_string(strategy, "type") == "RollingUpdate") {
      if (Object* rolling = mutable_object(strategy, "rollingUpdate")) fill_missing(*rolling, "partition", 0);
    }
    apply_pod_template_defaults(ensure_object(spec, "template"));
    each_mutable(spec, "volumeClaimTemplates", [](Object& claim) {
      claim["kind"] = "PersistentVolumeClaim";
      claim["apiVersion"] = "v1";
      apply_claim_spec_defaults(ensure_object(claim, "spec"));
    });
  }

 protected:
  void check(const Object& object, FieldErrors& errors) const override {
    const Object& spec = object_or_empty(object, "spec");
    check_update_strategy(object_or_empty(spec, "updateStrategy"), errors);
    validate_workload_selector(spec, "statefulset", true, errors);
    if (const Object* selector = get_object(spec, "selector"); selector && !is_valid_selector(*selector, "")) {
      errors.invalid_raw("spec.selector", to_json(*selector), "");
    }
    const Object whole = spec_with_claims(spec);
    const Schema* templates = core_schemas()->find("io.k8s.api.core.v1.PodTemplateSpec");
    templates->check(object_or_empty(whole, "template"), nullptr, ObjectPart::kWhole, "spec.template", errors);
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
  explicit StatefulSetStatusStrategy(std::shared_ptr<const Strategy> parent) : StatusStrategy(std::move(parent)) {}

 protected:
  void check_status(const Object& object, const Object&, FieldErrors& errors) const override {
    const Object& status = object_or_empty(object, "status");
    check_not_above(status, {"readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"}, "replicas",
                    "cannot be greater than status.replicas", errors);
    check_not_above(status, {"availableReplicas"}, "readyReplicas", "cannot be greater than status.readyReplicas", errors);
  }
};

}  // namespace

KindRow stateful_set_row(PodValidationOptions options) {
  return {.resource = "statefulsets",
          .kind = "StatefulSet",
          .short_names = {"sts"},
          .categories = {"all"},
          .facts = {.name_rule = NameRule::kDnsLabel,  // it becomes part of its pods' host names
                    .generation = true,
                    .status = true,
                    .columns = {name_column(), computed_column("Ready", "Pods that are ready, of how many.", print_ready), age_column(),
                                shown_column("Containers", "Names of the containers.", ".spec.template.spec.containers", show_names, 1),
                                shown_column("Images", "Images of the containers.", ".spec.template.spec.containers", show_images, 1)}},
          .make = made<StatefulSetStrategy>(options),
          .make_status = made_status<StatefulSetStatusStrategy>,
          .scale = Host::ScalePaths{},
          .storage_prefix = "statefulsets"};
}

}  // namespace backplane::apps
