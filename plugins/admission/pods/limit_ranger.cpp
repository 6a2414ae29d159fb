#include "pods/limit_ranger.hpp"

#include "backplane/core/json_access.hpp"
#include "common/aggregate.hpp"
#include "common/served_as.hpp"
#include "objects/cached_objects.hpp"
#include "objects/request_match.hpp"
#include "pods/limit_defaults.hpp"
#include "pods/limit_ranges.hpp"
#include "pods/limit_rules.hpp"

namespace backplane::admission::pods {
namespace {

using objects::is_of_kind;

// Containers of a pod do not change after its creation, except their resources.
bool is_limited(const AdmissionAttributes& attributes) {
  if (attributes.object == nullptr) return false;
  const bool pod = is_of_kind(attributes, "", "Pod"), update = attributes.operation == AdmissionOperation::kUpdate;
  if (!attributes.subresource.empty()) return pod && update && attributes.subresource == "resize";
  return pod ? !update : is_of_kind(attributes, "", "PersistentVolumeClaim");
}

bool is_being_deleted(const AdmissionAttributes& attributes) {
  return attributes.old_object != nullptr && !meta_text(*attributes.old_object, "deletionTimestamp").empty();
}

class LimitRanger final : public AdmissionPlugin {
 public:
  explicit LimitRanger(Services& services) : host_(services.host()), ranges_(services), pod_level_(services.gate("PodLevelResources")) {}

  std::string_view name() const noexcept override { return "LimitRanger"; }
  bool handles(AdmissionOperation operation) const noexcept override {
    return operation == AdmissionOperation::kCreate || operation == AdmissionOperation::kUpdate;
  }

  std::optional<Status> admit_now(AdmissionAttributes& attributes) const override {
    if (!is_limited(attributes) || is_being_deleted(attributes)) return Status();
    const auto ranges = ranges_.known(attributes.ns);
    if (!ranges) return std::nullopt;
    return set_defaults(attributes, *ranges);
  }
  Task<Status> admit(AdmissionAttributes& attributes) const override {
    auto reading = ranges_.read(attributes.ns);
    auto ranges = co_await std::move(reading);
    if (!ranges.ok()) co_return admission_forbidden(attributes, ranges.status().message());
    co_return set_defaults(attributes, *ranges);
  }

  std::optional<Status> validate_now(const AdmissionAttributes& attributes) const override {
    if (!is_limited(attributes) || is_being_deleted(attributes)) return Status();
    const auto ranges = ranges_.known(attributes.ns);
    if (!ranges) return std::nullopt;
    return check(attributes, *ranges);
  }
  Task<Status> validate(const AdmissionAttributes& attributes) const override {
    auto reading = ranges_.read(attributes.ns);
    auto ranges = co_await std::move(reading);
    if (!ranges.ok()) co_return admission_forbidden(attributes, ranges.status().message());
    co_return check(attributes, *ranges);
  }

 private:
  Status set_defaults(AdmissionAttributes& attributes, const LimitRanges::Items& ranges) const {
    if (attributes.resource.resource != "pods") return {};
    bool changed = false;
    for (const ObjectRef& range : ranges) changed |= set_limit_defaults(objects::decoded(*range, attributes), *attributes.object);
    if (changed && has(object_or_empty(*attributes.object, "spec"), "resources")) complete(attributes);
    return {};
  }

  // Requests of the pod itself have defaults that depend on the requests of its containers. Upstream sets them whenever it decodes the
  // stored object.
  void complete(AdmissionAttributes& attributes) const {
    Value pod(std::move(*attributes.object));
    served_type(host_, attributes.resource, attributes.kind).set_defaults(pod);
    *attributes.object = std::move(pod.get_object());
  }

  Status check(const AdmissionAttributes& attributes, const LimitRanges::Items& ranges) const {
    for (const ObjectRef& range : ranges) {
      const auto problems = problems_of(attributes, objects::decoded(*range, attributes));
      if (!problems.empty()) return admission_forbidden(attributes, aggregate_text(problems));
    }
    return {};
  }

  std::vector<std::string> problems_of(const AdmissionAttributes& attributes, const Object& range) const {
    if (attributes.resource.resource == "pods") return limit_problems_of_pod(range, *attributes.object, pod_level_);
    if (attributes.resource.resource == "persistentvolumeclaims") return limit_problems_of_claim(range, *attributes.object);
    return {};
  }

  Host& host_;
  const LimitRanges ranges_;
  const bool pod_level_;
};

}  // namespace

Result<std::shared_ptr<AdmissionPlugin>> make_limit_ranger(Services& services, const AdmissionPluginConfig&) {
  return std::shared_ptr<AdmissionPlugin>(std::make_shared<LimitRanger>(services));
}

}  // namespace backplane::admission::pods
