#include "pods/priority.hpp"

#include "backplane/core/json_access.hpp"
#include "objects/cached_objects.hpp"
#include "objects/request_match.hpp"
#include "pods/priority_classes.hpp"

namespace backplane::admission::pods {
namespace {

using objects::is_main_write;

constexpr std::string_view kPreemptLower = "PreemptLowerPriority";

class Priority final : public AdmissionPlugin {
 public:
  Priority(Lister lister, bool groups) : lister_(std::move(lister)), classes_(lister_), groups_(groups) {}

  std::string_view name() const noexcept override { return "Priority"; }
  bool handles(AdmissionOperation operation) const noexcept override { return operation != AdmissionOperation::kConnect; }

  std::optional<Status> admit_now(AdmissionAttributes& attributes) const override {
    if (is_main_write(attributes, "", "pods") && attributes.operation == AdmissionOperation::kUpdate) return keep(attributes);
    if (!is_resolved(attributes)) return Status();
    if (!lister_.has_synced()) return std::nullopt;
    return resolve(attributes);
  }
  Task<Status> admit(AdmissionAttributes& attributes) const override {
    auto waiting = objects::wait_synced(lister_, attributes);
    Status ready = co_await std::move(waiting);
    co_return ready.ok() ? resolve(attributes) : ready;
  }

  std::optional<Status> validate_now(const AdmissionAttributes& attributes) const override {
    if (!is_main_write(attributes, "scheduling.k8s.io", "priorityclasses")) return Status();
    if (!get_bool(*attributes.object, "globalDefault").value_or(false)) return Status();
    if (!lister_.has_synced()) return std::nullopt;
    return check_default(attributes);
  }
  Task<Status> validate(const AdmissionAttributes& attributes) const override {
    auto waiting = objects::wait_synced(lister_, attributes);
    Status ready = co_await std::move(waiting);
    co_return ready.ok() ? check_default(attributes) : ready;
  }

 private:
  bool is_resolved(const AdmissionAttributes& attributes) const {
    if (attributes.operation != AdmissionOperation::kCreate) return false;
    return is_main_write(attributes, "", "pods") || (groups_ && is_main_write(attributes, "scheduling.k8s.io", "podgroups"));
  }

  // An update that leaves out what this plugin has set when the pod was created does not change it.
  static Status keep(AdmissionAttributes& attributes) {
    if (attributes.old_object == nullptr) return {};
    Object& spec = ensure_object(*attributes.object, "spec");
    const Object& old = object_or_empty(*attributes.old_object, "spec");
    for (std::string_view member : {"priority", "preemptionPolicy"}) {
      if (!has(spec, member) && has(old, member)) spec[member] = *find(old, member);
    }
    return {};
  }

  Status resolve(AdmissionAttributes& attributes) const {
    Object& spec = ensure_object(*attributes.object, "spec");
    const std::string wanted(get_string(spec, "priorityClassName"));
    PriorityClass found;
    found.preemption_policy = kPreemptLower;  // as if there was a default class with the value 0
    if (auto chosen = wanted.empty() ? classes_.global_default() : classes_.find(wanted)) {
      found = std::move(*chosen);
    } else if (!wanted.empty()) {
      return admission_forbidden(attributes, "no PriorityClass with name " + wanted + " was found");
    }
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

  Status check_default(const AdmissionAttributes& attributes) const {
    const auto present = classes_.global_default();
    if (!present) return {};
    const bool same = attributes.operation == AdmissionOperation::kUpdate && present->name == meta_name(*attributes.object);
    if (same) return {};
    return admission_forbidden(attributes, "PriorityClass " + present->name + " is already marked as default. Only one default can exist");
  }

  const Lister lister_;
  const PriorityClasses classes_;
  const bool groups_;
};

}  // namespace

Result<std::shared_ptr<AdmissionPlugin>> make_priority(Services& services, const AdmissionPluginConfig&) {
  Lister classes = services.lister({"scheduling.k8s.io", "v1", "priorityclasses"});
  return std::shared_ptr<AdmissionPlugin>(std::make_shared<Priority>(std::move(classes), services.gate("WorkloadAwarePreemption")));
}

}  // namespace backplane::admission::pods
