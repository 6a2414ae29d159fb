#include "pods/toleration_restriction.hpp"

#include "backplane/core/json_access.hpp"
#include "common/pod_resources.hpp"
#include "pods/pod_namespace_plugin.hpp"
#include "pods/toleration_config.hpp"
#include "pods/tolerations.hpp"

namespace backplane::admission::pods {
namespace {

constexpr std::string_view kDefaultsAnnotation = "scheduler.alpha.kubernetes.io/defaultTolerations";
constexpr std::string_view kAllowedAnnotation = "scheduler.alpha.kubernetes.io/tolerationsWhitelist";

class TolerationRestriction final : public PodNamespacePlugin {
 public:
  TolerationRestriction(Services& services, TolerationConfig config)
      : PodNamespacePlugin(services), config_(std::move(config)), pod_level_(services.gate("PodLevelResources")) {}

  std::string_view name() const noexcept override { return "PodTolerationRestriction"; }
  bool handles(AdmissionOperation operation) const noexcept override {
    return operation == AdmissionOperation::kCreate || operation == AdmissionOperation::kUpdate;
  }

 protected:
  Status merge(AdmissionAttributes& attributes, const Object& ns) const override {
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

  Status check(const AdmissionAttributes& attributes, const Object& ns) const override {
    const Array* tolerations = get_array(object_or_empty(*attributes.object, "spec"), "tolerations");
    if (tolerations == nullptr || tolerations->empty()) return {};
    auto own = tolerations_of_namespace(ns, kAllowedAnnotation);
    if (!own.ok()) return std::move(own).status();
    if (are_allowed(tolerations, *own ? **own : config_.allowed)) return {};
    return Status(500, Reason::kNone,
                  "pod tolerations (possibly merged with namespace default tolerations) conflict with its " +
                      std::string(*own ? "namespace" : "cluster") + " whitelist");
  }

  Status unreadable(const AdmissionAttributes&, Status why) const override {
    return why.reason() == Reason::kNotFound ? why : internal_error(why.message());
  }

 private:
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
