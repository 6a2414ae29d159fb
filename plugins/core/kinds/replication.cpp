// PodTemplates and ReplicationControllers.
#include <algorithm>

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/kit/table.hpp"
#include "backplane/workload/pod_defaults.hpp"
#include "backplane/workload/printing.hpp"
#include "backplane/workload/strategy.hpp"
#include "backplane/workload/warnings.hpp"
#include "backplane/workload/workload.hpp"
#include "kinds/kinds.hpp"

namespace backplane::core {
namespace {

using namespace kit;
using namespace workload;

class PodTemplateStrategy final : public PodHolderStrategy {
 public:
  using PodHolderStrategy::PodHolderStrategy;
  std::vector<std::string> warnings(const Object& object, const Object* old) const override {
    if (old != nullptr && !generation_changed(object, *old)) return {};
    return pod_warnings("template", object_or_empty(object, "template"));
  }
  void apply_defaults(Object& object) const override { apply_pod_template_defaults(ensure_object(object, "template")); }
  void canonicalize(Object& object) const override { canonicalize_pod_spec(ensure_object(ensure_object(object, "template"), "spec")); }

 protected:
  void prepare_update(Object& object, const Object& old) const override {
    if (same_member(object, old, "template")) return;
    ObjectMeta meta(object);
    meta.set_generation(meta.generation() + 1);
  }
  void check(const Object& object, FieldErrors& errors) const override {
    validate_pod_template(object_or_empty(object, "template"), "template", options(), errors);
  }
};

class ReplicationControllerStrategy final : public WorkloadStrategy {
 public:
  using WorkloadStrategy::WorkloadStrategy;
  // On update, the old template is checked, because upstream swaps the two arguments.
  std::vector<std::string> warnings(const Object& object, const Object* old) const override {
    if (old == nullptr) return WorkloadStrategy::warnings(object, nullptr);
    return generation_changed(object, *old) ? workload_warnings(*old, nullptr) : Warnings();
  }
  void apply_defaults(Object& object) const override {
    Object& spec = ensure_object(object, "spec");
    Object* pod_template = mutable_object(spec, "template");
    if (pod_template == nullptr) return;
    apply_pod_template_defaults(*pod_template);
    const Object labels(object_or_empty(object_or_empty(*pod_template, "metadata"), "labels"));
    if (labels.empty()) return;
    if (object_or_empty(spec, "selector").empty()) spec["selector"] = labels;
    ObjectMeta meta(object);
    if (meta.labels() == nullptr || meta.labels()->empty()) meta.mutable_labels() = labels;
  }

 protected:
  void check(const Object& object, FieldErrors& errors) const override {
    const Object& spec = object_or_empty(object, "spec");
    const Object* pod_template = get_object(spec, "template");
    if (pod_template == nullptr) return;
    const Value* labels = find_path(*pod_template, {"metadata", "labels"});
    const Object& there = object_or_empty(object_or_empty(*pod_template, "metadata"), "labels");
    const Object& selector = object_or_empty(spec, "selector");
    if (!std::all_of(selector.begin(), selector.end(), [&](const auto& wanted) { return same_member(selector, there, wanted.key()); })) {
      errors.invalid_raw("spec.template.metadata.labels", labels ? to_json(*labels) : "null",
                         "`selector` does not match template `labels`");
    }
    validate_pod_template(*pod_template, "spec.template", options(), errors);
    validate_always_restarts(spec, "ReplicationController", errors);
  }
};

}  // namespace

void add_templates_and_controllers(GroupCode& code, PodValidationOptions options) {
  code.kinds["PodTemplate"] = {.make = made<PodTemplateStrategy>(options)};
  code.kinds["ReplicationController"] = {.make = made<ReplicationControllerStrategy>(WorkloadFacts{.names_hosts = true}, options)};
}

}  // namespace backplane::core
