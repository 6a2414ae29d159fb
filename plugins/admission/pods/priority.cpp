#include "pods/priority.hpp"

#include "backplane/core/json_access.hpp"
#include "objects/cached_objects.hpp"
#include "objects/request_match.hpp"
#include "pods/priority_classes.hpp"

namespace backplane::admission::pods {
namespace {

using objects::is_main_write;

constexpr std::string_view kPreemptLower = "PreemptLowerPriority";

const GroupVersionResource& class_resource() {
  static const GroupVersionResource resource("scheduling.k8s.io", "v1", "priorityclasses");
  return resource;
}

class Priority final : public AdmissionPlugin {
 public:
  Priority(Host& host, Lister lister, bool groups) : host_(host), lister_(std::move(lister)), classes_(lister_), groups_(groups) {}

  std::string_view name() const noexcept override { return "Priority"; }
  bool handles(AdmissionOperation operation) const noexcept override { return operation != AdmissionOperation::kConnect; }

  std::optional<Status> admit_now(AdmissionAttributes& attributes) const override {
    if (is_main_write(attributes, "", "pods") && attributes.operation == AdmissionOperation::kUpdate) return keep(attributes);
    if (!is_resolved(attributes)) return Status();
    if (!lister_.has_synced()) return std::nullopt;
    const std::string_view wanted = wanted_class(attributes);
    if (wanted.empty()) return set(attributes, classes_.global_default().value_or(no_class()));
    const auto found = classes_.find(wanted);
    return found ? std::optional<Status>(set(attributes, *found)) : std::nullopt;
  }
  // Called if the cache is incomplete or does not have the class yet.
  Task<Status> admit(AdmissionAttributes& attributes) const override {
    auto waiting = objects::wait_synced(lister_, attributes);
    Status ready = co_await std::move(waiting);
    if (!ready.ok()) co_return ready;
    const std::string wanted(wanted_class(attributes));
    if (wanted.empty()) co_return set(attributes, classes_.global_default().value_or(no_class()));
    auto reading = objects::read_live(host_, class_resource(), {}, wanted);
    auto found = co_await std::move(reading);
    if (found.ok()) co_return set(attributes, priority_class_of(**found));
    if (found.status().reason() == Reason::kNotFound) {
      co_return admission_forbidden(attributes, "no PriorityClass with name " + wanted + " was found");
    }
    co_return Status(500, Reason::kNone, "failed to resolve PriorityClass with name " + wanted + ": " + found.status().message());
  }

  std::optional<Status> validate_now(const AdmissionAttributes& attributes) const override {
    if (!is_main_write(attributes, "scheduling.k8s.io", "priorityclasses")) return Status();
    if (!get_bool(*attributes.object, "globalDefault").value_or(false)) return Status();
    return std::nullopt;
  }
  // Reads the store, because the cache may lack a default class that was created just before. Default classes are rarely created.
  Task<Status> validate(const AdmissionAttributes& attributes) const override {
    auto listing = objects::list_live(host_, class_resource(), {});
    auto classes = co_await std::move(listing);
    if (classes.ok()) co_return check_default(attributes, global_default_of(*classes));
    co_return Status(500, Reason::kNone, "failed to get default priority class: " + classes.status().message());
  }

 private:
  bool is_resolved(const AdmissionAttributes& attributes) const {
    if (attributes.operation != AdmissionOperation::kCreate) return false;
    return is_main_write(attributes, "", "pods") || (groups_ && is_main_write(attributes, "scheduling.k8s.io", "podgroups"));
  }

  // If an update lacks the fields that this plugin set at the creation of the pod, copies them from the old pod.
  static Status keep(AdmissionAttributes& attributes) {
    if (attributes.old_object == nullptr) return {};
    Object& spec = ensure_object(*attributes.object, "spec");
    const Object& old = object_or_empty(*attributes.old_object, "spec");
    for (std::string_view member : {"priority", "preemptionPolicy"}) {
      if (!has(spec, member) && has(old, member)) spec[member] = *find(old, member);
    }
    return {};
  }

  static std::string_view wanted_class(const AdmissionAttributes& attributes) {
    return get_string_path(*attributes.object, "spec.priorityClassName");
  }

  // The values for pods if no class has globalDefault.
  static PriorityClass no_class() {
    PriorityClass out;
    out.preemption_policy = kPreemptLower;
    return out;
  }

  static Status set(AdmissionAttributes& attributes, const PriorityClass& found) {
    Object& spec = ensure_object(*attributes.object, "spec");
    const bool is_pod = attributes.resource.resource == "pods";
    return is_pod ? set_of_pod(attributes, spec, found) : set_of_group(attributes, spec, found);
  }

  static Status set_of_pod(const AdmissionAttributes& attributes, Object& spec, const PriorityClass& found) {
    if (!found.name.empty()) spec["priorityClassName"] = found.name;
    const std::string value = std::to_string(found.value);
    if (const auto given = get_int(spec, "priority"); given && *given != found.value) {
      return admission_forbidden(attributes, "the integer value of priority (" + std::to_string(*given) +
                                                 ") must not be provided in pod spec; priority admission controller computed " + value +
                                                 " from the given PriorityClass name");
    }
    spec["priority"] = found.value;
    if (found.preemption_policy.empty()) return {};
    const std::string given(get_string(spec, "preemptionPolicy"));
    if (has(spec, "preemptionPolicy") && given != found.preemption_policy) {
      return admission_forbidden(attributes, "the string value of PreemptionPolicy (" + given +
                                                 ") must not be provided in pod spec; priority admission controller computed " +
                                                 found.preemption_policy + " from the given PriorityClass name");
    }
    spec["preemptionPolicy"] = found.preemption_policy;
    return {};
  }

  static Status set_of_group(const AdmissionAttributes& attributes, Object& spec, const PriorityClass& found) {
    if (const auto given = get_int(spec, "priority"); given && *given != found.value) {
      return admission_forbidden(attributes, "priority set in the pod group (" + std::to_string(*given) +
                                                 ") must match the priority computed (" + std::to_string(found.value) +
                                                 ") based on the priority class set in the spec");
    }
    spec["priority"] = found.value;
    if (!found.name.empty()) spec["priorityClassName"] = found.name;
    return {};
  }

  static Status check_default(const AdmissionAttributes& attributes, const std::optional<PriorityClass>& present) {
    if (!present) return {};
    const bool same = attributes.operation == AdmissionOperation::kUpdate && present->name == meta_name(*attributes.object);
    if (same) return {};
    return admission_forbidden(attributes, "PriorityClass " + present->name + " is already marked as default. Only one default can exist");
  }

  Host& host_;
  const Lister lister_;
  const PriorityClasses classes_;
  const bool groups_;
};

}  // namespace

Result<std::shared_ptr<AdmissionPlugin>> make_priority(Services& services, const AdmissionPluginConfig&) {
  Lister classes = services.lister(class_resource());
  return std::shared_ptr<AdmissionPlugin>(
      std::make_shared<Priority>(services.host(), std::move(classes), services.gate("WorkloadAwarePreemption")));
}

}  // namespace backplane::admission::pods
