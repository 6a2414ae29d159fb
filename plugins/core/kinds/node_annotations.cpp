#include "kinds/node_annotations.hpp"

#include <string>
#include <string_view>

#include "backplane/core/json_access.hpp"
#include "backplane/kit/path.hpp"
#include "backplane/types/schema.hpp"
#include "backplane/workload/annotation_value.hpp"

namespace backplane::core {
namespace {

using namespace kit;
using workload::AnnotationValue;

constexpr std::string_view kTaints = "scheduler.alpha.kubernetes.io/taints";
constexpr std::string_view kAvoidPods = "scheduler.alpha.kubernetes.io/preferAvoidPods";
const std::string kAnnotations = "metadata.annotations";

// The rules of spec.taints, reported for the annotation.
void check_taints(std::string_view text, FieldErrors& errors) {
  AnnotationValue read = workload::read_annotation_list(text, *core_schemas()->find("io.k8s.api.core.v1.Taint"), "core.Taint");
  if (!read.problem.empty()) return errors.invalid(kAnnotations, kTaints, read.problem);
  FieldErrors found;
  const Object spec{{"taints", std::move(read.value)}};
  core_schemas()->find("io.k8s.api.core.v1.NodeSpec")->check(spec, nullptr, ObjectPart::kWhole, kAnnotations, found);
  for (FieldError error : found.list()) {
    // Errors have upstream's path of the annotations, below the metadata.
    constexpr std::string_view kBlamed = "metadata.taints";
    if (error.field.starts_with(kBlamed)) error.field.replace(0, kBlamed.size(), kAnnotations + "." + std::string(kTaints));
    errors.add(error);
  }
}

void check_avoided(const Object& entry, const Path& path, FieldErrors& errors) {
  const Path signature = path.at("PodSignature"), controller = signature.at("PodController");
  const Object* owner = get_object(object_or_empty(entry, "podSignature"), "podController");
  if (owner == nullptr) return errors.required(signature);
  const auto controls = get_bool(*owner, "controller");
  if (controls.value_or(false)) return;
  errors.invalid_raw(controller.at("Controller"), controls ? "false" : "null", "must point to a controller");
}

void check_avoided_pods(std::string_view text, FieldErrors& errors) {
  const Path path(kAnnotations);
  const AnnotationValue read = workload::read_annotation(text, *core_schemas()->find("io.k8s.api.core.v1.AvoidPods"), "v1.AvoidPods");
  if (!read.problem.empty()) return errors.invalid(path.at("AvoidPods"), kAvoidPods, read.problem);
  if (!read.value.is_object()) return;
  const Path list = path.at(kAvoidPods);
  each(read.value.get_object(), "preferAvoidPods", [&](const Object& entry, std::size_t i) { check_avoided(entry, list.at(i), errors); });
}

}  // namespace

void check_node_annotations(const Object& node, FieldErrors& errors) {
  const Object& annotations = object_or_empty(object_or_empty(node, "metadata"), "annotations");
  const std::string_view taints = get_string(annotations, kTaints), avoided = get_string(annotations, kAvoidPods);
  if (!taints.empty()) check_taints(taints, errors);
  if (!avoided.empty()) check_avoided_pods(avoided, errors);
}

}  // namespace backplane::core
