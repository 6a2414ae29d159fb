// PATCH and PUT on /resize: the requests and limits of the containers of a running pod.
#include "pods/resize.hpp"
#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/kit/strategy.hpp"
#include "backplane/workload/pod_defaults.hpp"
#include "backplane/workload/pod_validation.hpp"
#include "kinds/kinds.hpp"
#include "pods/qos.hpp"

namespace backplane::core {
namespace {

using namespace kit;
using namespace workload;

constexpr std::string_view kPodLevelOff =
    "resize of pods with pod-level resources is forbidden when InPlacePodLevelResourcesVerticalScalingEnabled feature gate is disabled";
constexpr std::string_view kOnlyTwo = "only cpu and memory resources are mutable";

// Sets `list` in `spec` to the old containers with the new values of the members that this subresource may change. Returns false if the
// number of containers differs. If the names differ, copies the new list, which validation refuses.
bool take_sizes(Object& spec, const Object& sent, const Object& before, std::string_view list) {
  const Array* now = get_array(sent, list);
  const Array* old = get_array(before, list);
  const std::size_t count = now != nullptr ? now->size() : 0;
  if (count != (old != nullptr ? old->size() : 0)) return false;
  Array merged;
  for (std::size_t i = 0; i < count; ++i) {
    const Object& container = (*now)[i].get_object();
    Object kept((*old)[i].get_object());
    if (get_string(kept, "name") != get_string(container, "name")) {
      spec[list] = *now;
      return true;
    }
    take_member(kept, container, "resources");
    take_member(kept, container, "resizePolicy");
    merged.emplace_back(std::move(kept));
  }
  if (count > 0) spec[list] = std::move(merged);
  return true;
}

// Restores the old metadata, which /resize does not change.
void keep_metadata(Object& object, const Object& old) {
  Object& metadata = ensure_object(object, "metadata");
  for (const std::string_view member :
       {"labels", "annotations", "finalizers", "ownerReferences", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"}) {
    take_member(metadata, object_or_empty(old, "metadata"), member);
  }
}

void check_order(const Object& spec, const Object& before, std::string_view list, FieldErrors& errors) {
  const std::string path = at("spec", list);
  if (count_of(spec, list) != count_of(before, list)) {
    return errors.forbidden(path, std::string(list) + " may not be added or removed on resize");
  }
  each(before, list, [&](const Object& old, std::size_t i) {
    if (get_string((*get_array(spec, list))[i].get_object(), "name") == get_string(old, "name")) return;
    errors.forbidden(at(at(path, i), "name"), std::string(list) + " may not be renamed or reordered on resize");
  });
}

void check_kept(const Object& now, const Object& before, const std::string& path, std::string_view what, FieldErrors& errors) {
  for (const std::string_view kind : {"requests", "limits"}) {
    const Object &amounts = object_or_empty(now, kind), &old = object_or_empty(before, kind);
    bool removed = old.size() > amounts.size();
    for (const auto& amount : old) removed = removed || !amounts.contains(amount.key());
    if (!removed) continue;
    errors.forbidden(at(path, kind), std::string(what) + " " + std::string(kind) + " cannot be removed");
  }
}

// Returns the new limits and requests, with the old amounts of cpu and memory.
Object without_sizes(const Object& now, const Object& before) {
  Object out;
  for (const std::string_view kind : {"limits", "requests"}) {
    Object amounts(object_or_empty(now, kind));
    for (const std::string_view resource : {"cpu", "memory"}) take_member(amounts, object_or_empty(before, kind), resource);
    if (!amounts.empty()) out[kind] = std::move(amounts);
  }
  return out;
}

// Compares limits and requests, each in any order, and claims.
bool same_resources(const Object& a, const Object& b) {
  const auto part = [](const Object& resources, std::string_view name) { return object_or_empty(resources, name); };
  return part(a, "limits") == part(b, "limits") && part(a, "requests") == part(b, "requests") && same_member(a, b, "claims");
}

bool same_container(const Object& now, const Object& before) {
  Object rest(now);
  take_member(rest, before, "resources");
  const Object& old = object_or_empty(before, "resources");
  return rest == before && same_resources(without_sizes(object_or_empty(now, "resources"), old), old);
}

bool restarts(const Object& container) { return get_string(container, "restartPolicy") == "Always"; }

void check_init_container(const Object& now, const Object& before, const std::string& path, FieldErrors& errors) {
  if (!same_container(now, before)) {
    errors.forbidden(path, "only cpu and memory resources for init or sidecar containers are mutable");
  }
  if (restarts(now) || now == before) return;
  each(now, "resizePolicy", [&](const Object& policy, std::size_t) {
    if (get_string(policy, "restartPolicy") != "RestartContainer") return;
    errors.forbidden(path, "non-sidecar init containers with a resize policy of RestartContainer cannot be resized");
  });
}

// Returns true if the spec has pod-level resources.
bool has_pod_resources(const Object& spec) {
  const Object& resources = object_or_empty(spec, "resources");
  return object_or_empty(resources, "requests").size() + object_or_empty(resources, "limits").size() > 0;
}

void check_pod_resources(const Object& spec, const Object& before, FieldErrors& errors) {
  const Object &now = object_or_empty(spec, "resources"), &old = object_or_empty(before, "resources");
  if (has(before, "resources") && !has(spec, "resources")) {
    return errors.forbidden("spec.resources", "pod-level resources cannot be removed");
  }
  if (has(before, "resources")) check_kept(now, old, "spec.resources", "pod-level resource", errors);
  Object rest = without_sizes(now, old);
  take_member(rest, now, "claims");
  if (!same_resources(rest, old)) errors.forbidden("spec", "only cpu and memory resources are mutable at pod-level");
}

// The status of a running container contains its resources if the node supports resize. Returns true, too, if no container is running,
// because then the support is unknown.
bool node_can_resize(const Object& pod) {
  const Object* running = nullptr;
  each(object_or_empty(pod, "status"), "containerStatuses", [&](const Object& status, std::size_t) {
    if (running == nullptr && has(object_or_empty(status, "state"), "running")) running = &status;
  });
  return running == nullptr || has(*running, "resources");
}

class ResizeStrategy final : public Strategy {
 public:
  ResizeStrategy(PodValidationOptions options, ResizeGates gates)
      : Strategy({.generation = true, .has_tables = false}), options_(options), gates_(gates) {}
  std::optional<WrittenFields> written_fields() const override {
    return WrittenFields{.reaches = {"spec.containers.*.resources", "spec.containers.*.resizePolicy", "spec.initContainers.*.resources",
                                     "spec.initContainers.*.resizePolicy"}};
  }
  void apply_defaults(Object& object) const override {
    apply_pod_spec_defaults(ensure_object(object, "spec"));
    apply_pod_only_defaults(object);
  }

  void prepare_for_update(RequestContext&, Object& object, const Object& old) const override {
    const Object sent(object_or_empty(object, "spec"));
    const Object& before = object_or_empty(old, "spec");
    Object spec(before);
    const bool same = take_sizes(spec, sent, before, "containers") && take_sizes(spec, sent, before, "initContainers");
    if (!same) return;
    if (gates_.pod_level) take_member(spec, sent, "resources");
    object["spec"] = std::move(spec);
    take_member(object, old, "status");
    keep_metadata(object, old);
  }

  void validate_update(RequestContext&, const Object& object, const Object& old, FieldErrors& errors) const override {
    const Object &spec = object_or_empty(object, "spec"), &before = object_or_empty(old, "spec");
    if (has(object_or_empty(object_or_empty(old, "metadata"), "annotations"), "kubernetes.io/config.mirror")) {
      return refuse("static pods cannot be resized", errors);
    }
    if (get_string_path(before, "os.name") == "windows") return refuse("windows pods cannot be resized", errors);
    validate_pod_spec(spec, "spec", meta_name(object), options_.for_update_of(before), errors);
    check_pod(object, old, errors);
    if (has_pod_resources(spec) || has_pod_resources(before)) {
      if (!gates_.pod_level) return errors.forbidden("", kPodLevelOff);
      check_pod_resources(spec, before, errors);
    }
    check_claims(old, errors);
    const std::size_t found = errors.size();
    check_order(spec, before, "containers", errors);
    check_order(spec, before, "initContainers", errors);
    if (errors.size() == found) check_containers(spec, before, errors);
  }

 private:
  // Replaces all other errors.
  static void refuse(std::string_view why, FieldErrors& errors) {
    errors = FieldErrors();
    errors.forbidden("[]", why);  // the path of the whole object
  }

  static void check_pod(const Object& object, const Object& old, FieldErrors& errors) {
    const std::string known(get_string_path(old, "status.qosClass"));
    const std::string was = known.empty() ? std::string(qos_class(object_or_empty(old, "spec"))) : known;
    if (qos_class(object_or_empty(object, "spec")) != was) {
      errors.invalid("spec", get_string_path(object, "status.qosClass"), "Pod QOS Class may not change as a result of resizing");
    }
    if (!node_can_resize(old)) errors.forbidden("spec", "Pod running on node without support for resize");
  }

  static void check_claims(const Object& old, FieldErrors& errors) {
    if (count_of(object_or_empty(old, "status"), "nodeAllocatableResourceClaimStatuses") > 0) {
      errors.forbidden("spec", "pods with node allocatable resource claims cannot be resized");
    }
  }

  void check_containers(const Object& spec, const Object& before, FieldErrors& errors) const {
    for (const std::string_view list : {"initContainers", "containers"}) {
      each(before, list, [&](const Object& old, std::size_t i) {
        const Object& now = (*get_array(spec, list))[i].get_object();
        const std::string path = at(at("spec", list), i);
        if (list == "initContainers" && !gates_.init_containers && !restarts(now)) {
          if (now != old) errors.forbidden("spec", "resources for non-sidecar init containers are immutable");
          return;
        }
        check_kept(object_or_empty(now, "resources"), object_or_empty(old, "resources"), at(path, "resources"), "resource", errors);
        if (list == "initContainers") return check_init_container(now, old, path, errors);
        if (!same_container(now, old)) errors.forbidden("spec", kOnlyTwo);
      });
    }
    if (!errors.empty()) return;
    Object rest(spec);
    for (const std::string_view member : {"containers", "initContainers", "resources"}) take_member(rest, before, member);
    if (rest != before) errors.forbidden("spec", kOnlyTwo);
  }

  PodValidationOptions options_;
  ResizeGates gates_;
};

}  // namespace

std::shared_ptr<const Strategy> pod_resize_strategy(PodValidationOptions options) { return pod_resize_strategy(options, ResizeGates()); }
std::shared_ptr<const Strategy> pod_resize_strategy(PodValidationOptions options, ResizeGates gates) {
  return std::make_shared<ResizeStrategy>(options, gates);
}

}  // namespace backplane::core
