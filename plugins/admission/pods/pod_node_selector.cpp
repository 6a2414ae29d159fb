#include "pods/pod_node_selector.hpp"

#include "backplane/core/json_access.hpp"
#include "pods/node_selectors.hpp"
#include "pods/pod_namespace_plugin.hpp"

namespace backplane::admission::pods {
namespace {

constexpr std::string_view kSelectorAnnotation = "scheduler.alpha.kubernetes.io/node-selector";
constexpr std::string_view kClusterDefault = "clusterDefaultNodeSelector";

LabelMap selector_of(const Object& pod) { return labels_of(object_or_empty(object_or_empty(pod, "spec"), "nodeSelector")); }

Status selector_refused(const AdmissionAttributes& attributes, std::string_view why) {
  return forbidden("", "pods", meta_name(*attributes.object), why);
}

class PodNodeSelector final : public PodNamespacePlugin {
 public:
  PodNodeSelector(Services& services, LabelMap selectors) : PodNamespacePlugin(services), selectors_(std::move(selectors)) {}

  std::string_view name() const noexcept override { return "PodNodeSelector"; }
  bool handles(AdmissionOperation operation) const noexcept override { return operation == AdmissionOperation::kCreate; }

 protected:
  Status merge(AdmissionAttributes& attributes, const Object& ns) const override {
    auto wanted = selector_without_conflict(attributes, ns);
    if (!wanted.ok()) return std::move(wanted).status();
    Object& spec = ensure_object(*attributes.object, "spec");
    for (const auto& [key, value] : *wanted) ensure_object(spec, "nodeSelector")[key] = value;
    return check(attributes, ns);
  }

  Status check(const AdmissionAttributes& attributes, const Object& ns) const override {
    auto wanted = selector_without_conflict(attributes, ns);
    if (!wanted.ok()) return std::move(wanted).status();
    auto allowed = labels_of_selector(configured(attributes.ns));
    if (!allowed.ok()) return std::move(allowed).status();
    if (is_label_subset(selector_of(*attributes.object), *allowed)) return {};
    return selector_refused(attributes, "pod node label selector labels conflict with its namespace whitelist");
  }

  Status unreadable(const AdmissionAttributes& attributes, Status) const override {
    return internal_error("namespace " + attributes.ns + " does not exist");
  }

 private:
  std::string_view configured(std::string_view name) const {
    const auto found = selectors_.find(name);
    return found == selectors_.end() ? std::string_view() : std::string_view(found->second);
  }

  // The namespace's annotation replaces the default of the cluster.
  Result<LabelMap> selector_without_conflict(const AdmissionAttributes& attributes, const Object& ns) const {
    const Value* annotation = find(object_or_empty(object_or_empty(ns, "metadata"), "annotations"), kSelectorAnnotation);
    auto wanted = labels_of_selector(annotation != nullptr ? text_of(*annotation) : configured(kClusterDefault));
    if (wanted.ok() && labels_conflict(*wanted, selector_of(*attributes.object))) {
      return selector_refused(attributes, "pod node label selector conflicts with its namespace node label selector");
    }
    return wanted;
  }

  const LabelMap selectors_;  // by namespace, and the default of the cluster
};

}  // namespace

Result<std::shared_ptr<AdmissionPlugin>> make_pod_node_selector(Services& services, const AdmissionPluginConfig& config) {
  auto selectors = parse_node_selector_config(config.configuration);
  if (!selectors.ok()) return std::move(selectors).status();
  return std::shared_ptr<AdmissionPlugin>(std::make_shared<PodNodeSelector>(services, std::move(*selectors)));
}

}  // namespace backplane::admission::pods
