#include "objects/pod_group_workload_exists.hpp"

#include "backplane/core/json_access.hpp"
#include "objects/cached_objects.hpp"
#include "objects/request_match.hpp"

namespace backplane::admission::objects {
namespace {

const GroupVersionResource& workload_resource() {
  static const GroupVersionResource resource("scheduling.k8s.io", "v1alpha2", "workloads");
  return resource;
}

const Object* workload_reference(const Object& pod_group) {
  const Value* reference = find_path(pod_group, {"spec", "podGroupTemplateRef", "workload"});
  return reference != nullptr ? reference->if_object() : nullptr;
}

Status check_workload(const AdmissionAttributes& attributes, const Object& reference, const ObjectEntry& entry) {
  const Object workload = decoded(entry, attributes);
  const std::string name = backplane::quoted(get_string(reference, "workloadName"));
  if (!meta_text(workload, "deletionTimestamp").empty()) {
    return admission_forbidden(attributes, "PodGroup rejected: Workload " + name + " is being deleted");
  }
  const std::string_view wanted = get_string(reference, "podGroupTemplateName");
  if (find_item(object_or_empty(workload, "spec"), "podGroupTemplates", "name", wanted) != nullptr) return {};
  return admission_forbidden(attributes,
                             "PodGroup rejected: PodGroupTemplate " + backplane::quoted(wanted) + " not found in Workload " + name);
}

class PodGroupWorkloadExists final : public AdmissionPlugin {
 public:
  PodGroupWorkloadExists(Host& host, std::optional<Lister> workloads) : host_(host), workloads_(std::move(workloads)) {}

  std::string_view name() const noexcept override { return "PodGroupWorkloadExists"; }
  bool handles(AdmissionOperation operation) const noexcept override { return operation == AdmissionOperation::kCreate; }
  bool mutates() const noexcept override { return false; }

  std::optional<Status> validate_now(const AdmissionAttributes& attributes) const override {
    if (!workloads_ || !is_main_write(attributes, "scheduling.k8s.io", "podgroups")) return Status();
    const Object* reference = workload_reference(*attributes.object);
    if (reference == nullptr) return Status();
    if (!workloads_->has_synced()) return std::nullopt;
    const ObjectRef entry = workloads_->find(attributes.ns, get_string(*reference, "workloadName"));
    if (entry == nullptr) return std::nullopt;
    return check_workload(attributes, *reference, *entry);
  }

  Task<Status> validate(const AdmissionAttributes& attributes) const override {
    auto waiting = wait_synced(*workloads_, attributes);
    Status ready = co_await std::move(waiting);
    if (!ready.ok()) co_return ready;
    const Object& reference = *workload_reference(*attributes.object);
    const std::string name(get_string(reference, "workloadName"));
    ObjectRef entry = workloads_->find(attributes.ns, name);
    if (entry == nullptr) {
      auto reading = read_live(host_, workload_resource(), attributes.ns, name);
      auto found = co_await std::move(reading);
      if (!found.ok()) co_return missing(attributes, name, found.status());
      entry = std::move(*found);
    }
    co_return check_workload(attributes, reference, *entry);
  }

 private:
  static Status missing(const AdmissionAttributes& attributes, const std::string& name, const Status& why) {
    if (why.reason() != Reason::kNotFound) return internal_error(why.message());
    return admission_forbidden(attributes, "PodGroup rejected: Workload " + backplane::quoted(name) + " not found");
  }

  Host& host_;
  const std::optional<Lister> workloads_;  // empty: the gate is off
};

}  // namespace

Result<std::shared_ptr<AdmissionPlugin>> make_pod_group_workload_exists(Services& services, const AdmissionPluginConfig&) {
  std::optional<Lister> workloads;
  if (services.gate("GenericWorkload")) workloads = services.lister(workload_resource());
  return std::shared_ptr<AdmissionPlugin>(std::make_shared<PodGroupWorkloadExists>(services.host(), std::move(workloads)));
}

}  // namespace backplane::admission::objects
