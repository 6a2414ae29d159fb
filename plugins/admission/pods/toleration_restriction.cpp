#include "pods/toleration_restriction.hpp"

#include "backplane/core/json_access.hpp"
#include "backplane/types/names.hpp"
#include "objects/namespaces.hpp"
#include "objects/request_match.hpp"
#include "pods/toleration_config.hpp"
#include "pods/tolerations.hpp"

namespace backplane::admission::pods {
namespace {

constexpr std::string_view kDefaultsAnnotation = "scheduler.alpha.kubernetes.io/defaultTolerations";
constexpr std::string_view kAllowedAnnotation = "scheduler.alpha.kubernetes.io/tolerationsWhitelist";

// Whether `holder` requests cpu or memory, or limits them.
bool has_sizes(const Object& holder) {
  for (std::string_view list : {"requests", "limits"}) {
    const Object& amounts = object_or_empty(object_or_empty(holder, "resources"), list);
    for (std::string_view name : {"cpu", "memory"}) {
      const Value* amount = find(amounts, name);
      if (amount != nullptr && compare_quantities(text_of(*amount), "0") > 0) return true;
    }
  }
  return false;
}

// The quality of service, if the pod's status has it, else what it is going to be.
bool is_best_effort(const Object& pod, bool pod_level) {
  const std::string_view known = get_string_path(pod, "status.qosClass");
  if (!known.empty()) return known == "BestEffort";
  const Object& spec = object_or_empty(pod, "spec");
  if (pod_level && has(spec, "resources")) return !has_sizes(spec);
  bool any = false;
  for (std::string_view list : {"containers", "initContainers"}) {
    each(spec, list, [&](const Object& container, std::size_t) { any = any || has_sizes(container); });
  }
  return !any;
}

class TolerationRestriction final : public AdmissionPlugin {
 public:
  TolerationRestriction(Services& services, TolerationConfig config)
      : namespaces_(services), config_(std::move(config)), pod_level_(services.gate("PodLevelResources")) {}

  std::string_view name() const noexcept override { return "PodTolerationRestriction"; }
  bool handles(AdmissionOperation operation) const noexcept override {
    return operation == AdmissionOperation::kCreate || operation == AdmissionOperation::kUpdate;
  }

  std::optional<Status> admit_now(AdmissionAttributes& attributes) const override {
    if (!objects::is_main_write(attributes, "", "pods")) return Status();
    const ObjectRef known = namespaces_.cached(attributes.ns);
    if (known == nullptr) return std::nullopt;
    return merge(attributes, *known);
  }
  Task<Status> admit(AdmissionAttributes& attributes) const override {
    auto reading = read(attributes);
    auto found = co_await std::move(reading);
    co_return found.ok() ? merge(attributes, **found) : std::move(found).status();
  }

  std::optional<Status> validate_now(const AdmissionAttributes& attributes) const override {
    if (!objects::is_main_write(attributes, "", "pods")) return Status();
    const ObjectRef known = namespaces_.cached(attributes.ns);
    if (known == nullptr) return std::nullopt;
    return check(attributes, objects::decoded(*known, attributes));
  }
  Task<Status> validate(const AdmissionAttributes& attributes) const override {
    auto reading = read(attributes);
    auto found = co_await std::move(reading);
    co_return found.ok() ? check(attributes, objects::decoded(**found, attributes)) : std::move(found).status();
  }

 private:
  Task<Result<ObjectRef>> read(const AdmissionAttributes& attributes) const {
    auto finding = namespaces_.find(attributes);
    auto found = co_await std::move(finding);
    if (found.ok() || found.status().reason() == Reason::kNotFound || found.status().reason() == Reason::kForbidden) co_return found;
    co_return internal_error(found.status().message());
  }

  Status merge(AdmissionAttributes& attributes, const ObjectEntry& entry) const {
    const Object ns = objects::decoded(entry, attributes);
    Array extra;
    if (attributes.operation == AdmissionOperation::kCreate) {
      auto own = tolerations_of_namespace(ns, kDefaultsAnnotation);
      if (!own.ok()) return std::move(own).status();
      extra = *own ? std::move(**own) : config_.defaults;
    }
    if (!is_best_effort(*attributes.object, pod_level_)) {
      extra.emplace_back(toleration_of("node.kubernetes.io/memory-pressure", "NoSchedule"));
    }
    if (!extra.empty()) {
      Object& spec = ensure_object(*attributes.object, "spec");
      spec["tolerations"] = merge_tolerations(get_array(spec, "tolerations"), &extra, spec.storage());
    }
    return check(attributes, ns);
  }

  Status check(const AdmissionAttributes& attributes, const Object& ns) const {
    const Array* tolerations = get_array(object_or_empty(*attributes.object, "spec"), "tolerations");
    if (tolerations == nullptr || tolerations->empty()) return {};
    auto own = tolerations_of_namespace(ns, kAllowedAnnotation);
    if (!own.ok()) return std::move(own).status();
    if (are_allowed(tolerations, *own ? **own : config_.allowed)) return {};
    return Status(500, Reason::kNone,
                  "pod tolerations (possibly merged with namespace default tolerations) conflict with its " +
                      std::string(*own ? "namespace" : "cluster") + " whitelist");
  }

  const objects::Namespaces namespaces_;
  const TolerationConfig config_;
  const bool pod_level_;
};

}  // namespace

Result<std::shared_ptr<AdmissionPlugin>> make_toleration_restriction(Services& services, const AdmissionPluginConfig& config) {
  auto tolerations = parse_toleration_config(config.configuration);
  if (!tolerations.ok()) return std::move(tolerations).status();
  return std::shared_ptr<AdmissionPlugin>(std::make_shared<TolerationRestriction>(services, std::move(*tolerations)));
}

}  // namespace backplane::admission::pods
