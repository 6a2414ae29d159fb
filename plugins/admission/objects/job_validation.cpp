#include "objects/job_validation.hpp"

#include "backplane/core/json_access.hpp"
#include "objects/cached_objects.hpp"
#include "objects/request_match.hpp"

namespace backplane::admission::objects {
namespace {

bool is_gang(const Object& pod_group) {
  const Value* gang = find_path(pod_group, {"spec", "schedulingPolicy", "gang"});
  return gang != nullptr && !gang->is_null();
}

// Like metav1.IsControlledBy.
bool is_controlled_by(const Object& object, std::string_view uid) {
  bool found = false;
  each(object_or_empty(object, "metadata"), "ownerReferences", [&](const Object& owner, std::size_t) {
    found = found || (get_bool(owner, "controller").value_or(false) && get_string(owner, "uid") == uid);
  });
  return found;
}

Status fixed_parallelism(const AdmissionAttributes& attributes, const Object& pod_group) {
  return admission_forbidden(
      attributes, "cannot change parallelism for a Job referencing gang-scheduled PodGroup " + backplane::quoted(meta_name(pod_group)));
}

class JobValidation final : public AdmissionPlugin {
 public:
  explicit JobValidation(std::optional<Lister> pod_groups) : pod_groups_(std::move(pod_groups)) {}

  std::string_view name() const noexcept override { return "JobValidation"; }
  bool handles(AdmissionOperation operation) const noexcept override { return operation == AdmissionOperation::kUpdate; }
  bool mutates() const noexcept override { return false; }

  std::optional<Status> validate_now(const AdmissionAttributes& attributes) const override {
    if (!pod_groups_ || !is_main_write(attributes, "batch", "jobs") || attributes.old_object == nullptr) return Status();
    const Object& old = *attributes.old_object;
    if (same_member(object_or_empty(*attributes.object, "spec"), object_or_empty(old, "spec"), "parallelism")) return Status();
    const std::string_view named = group_in_template(old);
    return named.empty() ? check_owned_groups(attributes, old) : check_group(attributes, old, named);
  }

 private:
  static std::string_view group_in_template(const Object& job) {
    const Value* name = find_path(job, {"spec", "template", "spec", "schedulingGroup", "podGroupName"});
    return name != nullptr ? text_of(*name) : std::string_view();
  }

  Status check_group(const AdmissionAttributes& attributes, const Object& old, std::string_view name) const {
    const ObjectRef entry = pod_groups_->find(meta_namespace(old), name);
    if (entry == nullptr) return {};
    const Object pod_group = decoded(*entry, attributes);
    return is_gang(pod_group) ? fixed_parallelism(attributes, pod_group) : Status();
  }

  Status check_owned_groups(const AdmissionAttributes& attributes, const Object& old) const {
    for (const ObjectRef& entry : pod_groups_->in_namespace(std::string(meta_namespace(old)))) {
      const Object pod_group = decoded(*entry, attributes);
      if (is_controlled_by(pod_group, meta_text(old, "uid")) && is_gang(pod_group)) return fixed_parallelism(attributes, pod_group);
    }
    return {};
  }

  const std::optional<Lister> pod_groups_;  // empty: the gates are off
};

}  // namespace

Result<std::shared_ptr<AdmissionPlugin>> make_job_validation(Services& services, const AdmissionPluginConfig&) {
  std::optional<Lister> pod_groups;
  if (services.gate("GenericWorkload")) pod_groups = services.lister({"scheduling.k8s.io", "v1alpha2", "podgroups"});
  return std::shared_ptr<AdmissionPlugin>(std::make_shared<JobValidation>(std::move(pod_groups)));
}

}  // namespace backplane::admission::objects
