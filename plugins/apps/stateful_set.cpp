// StatefulSets.
#include <set>

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/types/names.hpp"
#include "backplane/workload/pod_annotations.hpp"
#include "backplane/workload/pod_defaults.hpp"
#include "backplane/workload/strategy.hpp"
#include "backplane/workload/warnings.hpp"
#include "backplane/workload/workload.hpp"
#include "kinds.hpp"

namespace backplane::apps {
namespace {

using namespace kit;
using namespace workload;

// Returns `spec` with a volume in the pod template for every claim template, as the pods have.
Object spec_with_claims(const Object& spec) {
  Array volumes;
  std::set<std::string, std::less<>> names;
  const auto add = [&](std::string_view name, const Object& volume) {
    if (names.emplace(name).second) volumes.emplace_back(volume);
  };
  each(spec, "volumeClaimTemplates", [&](const Object& claim, std::size_t) {
    Object volume;
    volume["name"] = meta_name(claim);
    volume["persistentVolumeClaim"].emplace_object()["claimName"] = meta_name(claim);
    add(meta_name(claim), volume);
  });
  Object out(spec);
  Object& pod_spec = ensure_object(ensure_object(out, "template"), "spec");
  // Removes the names, which are different for each pod.
  erase_member(pod_spec, "hostname");
  erase_member(pod_spec, "subdomain");
  if (volumes.empty()) return out;
  each(pod_spec, "volumes", [&](const Object& volume, std::size_t) { add(get_string(volume, "name"), volume); });
  pod_spec["volumes"] = std::move(volumes);
  return out;
}

// Upstream validates the template's labels and annotations twice; this is the separate validation.
void check_template_metadata(const Object& pod_template, FieldErrors& errors) {
  const Object& metadata = object_or_empty(pod_template, "metadata");
  const Object& annotations = object_or_empty(metadata, "annotations");
  validate_labels(object_or_empty(metadata, "labels"), "spec.template.labels", errors);
  validate_annotations(annotations, "spec.template.annotations", errors);
  validate_pod_annotations(annotations, object_or_empty(pod_template, "spec"), "spec.template.annotations", nullptr, errors);
}

class StatefulSetStrategy final : public WorkloadStrategy {
 public:
  using WorkloadStrategy::WorkloadStrategy;
  std::vector<std::string> warnings(const Object& object, const Object* old) const override {
    Warnings out = WorkloadStrategy::warnings(object, old);
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

 protected:
  void check(const Object& object, FieldErrors& errors) const override {
    const Object& spec = object_or_empty(object, "spec");
    check_selector(spec, errors);
    const Object* selector = get_object(spec, "selector");
    if (selector != nullptr && !workload::is_valid_selector(*selector, "")) {
      drop_below_template(errors);
      return validate_always_restarts(spec, "StatefulSet", errors);
    }
    const Object whole = spec_with_claims(spec);
    const Schema* templates = core_schemas()->find("io.k8s.api.core.v1.PodTemplateSpec");
    templates->check(object_or_empty(whole, "template"), nullptr, ObjectPart::kWhole, "spec.template", errors);
    validate_workload_template(whole, options(), errors);
    check_template_metadata(object_or_empty(spec, "template"), errors);
    validate_always_restarts(spec, "StatefulSet", errors);
  }
  // Immutable fields are validated on create only.
  void check_new(const Object& object, FieldErrors& errors) const override {
    each(object_or_empty(object, "spec"), "volumeClaimTemplates", [&](const Object& claim, std::size_t i) {
      validate_claim_spec(object_or_empty(claim, "spec"), at(at("spec.volumeClaimTemplates", i), "spec"), errors);
    });
  }
};

}  // namespace

KindCode stateful_set_code(PodValidationOptions options) {
  return {.make = made<StatefulSetStrategy>(WorkloadFacts{.selector_kind = "statefulset", .bad_selector = ""}, options)};
}

}  // namespace backplane::apps
