#include "pods/pod_node_selector.hpp"

#include "backplane/core/json_access.hpp"
#include "objects/namespaces.hpp"
#include "objects/request_match.hpp"
#include "pods/node_selectors.hpp"

namespace backplane::admission::pods {
namespace {

constexpr std::string_view kSelectorAnnotation = "scheduler.alpha.kubernetes.io/node-selector";
constexpr std::string_view kClusterDefault = "clusterDefaultNodeSelector";

LabelMap selector_of(const Object& pod) { return labels_of(object_or_empty(object_or_empty(pod, "spec"), "nodeSelector")); }

Status selector_refused(const AdmissionAttributes& attributes, std::string_view why) {
  return forbidden("", "pods", meta_name(*attributes.object), why);
}

class PodNodeSelector final : public AdmissionPlugin {
 public:
  PodNodeSelector(Services& services, LabelMap selectors) : namespaces_(services), selectors_(std::move(selectors)) {}

  std::string_view name() const noexcept override { return "PodNodeSelector"; }
  bool handles(AdmissionOperation operation) const noexcept override { return operation == AdmissionOperation::kCreate; }

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
    return check(attributes, *known);
  }
  Task<Status> validate(const AdmissionAttributes& attributes) const override {
    auto reading = read(attributes);
    auto found = co_await std::move(reading);
    co_return found.ok() ? check(attributes, **found) : std::move(found).status();
  }

 private:
  // The error of a live look-up has upstream's message.
  Task<Result<ObjectRef>> read(const AdmissionAttributes& attributes) const {
    auto finding = namespaces_.find(attributes);
    auto found = co_await std::move(finding);
    if (found.ok() || found.status().reason() == Reason::kForbidden) co_return found;
    co_return internal_error("namespace " + attributes.ns + " does not exist");
  }

  std::string_view configured(std::string_view name) const {
    const auto found = selectors_.find(name);
    return found == selectors_.end() ? std::string_view() : std::string_view(found->second);
  }

  // The namespace's annotation replaces the default of the cluster.
  Result<LabelMap> selector_of_namespace(const AdmissionAttributes& attributes, const ObjectEntry& entry) const {
    const Object tree = objects::decoded(entry, attributes);
    const Value* annotation = find(object_or_empty(object_or_empty(tree, "metadata"), "annotations"), kSelectorAnnotation);
    return labels_of_selector(annotation != nullptr ? text_of(*annotation) : configured(kClusterDefault));
  }

  Result<LabelMap> selector_without_conflict(const AdmissionAttributes& attributes, const ObjectEntry& entry) const {
    auto wanted = selector_of_namespace(attributes, entry);
    if (wanted.ok() && labels_conflict(*wanted, selector_of(*attributes.object))) {
      return selector_refused(attributes, "pod node label selector conflicts with its namespace node label selector");
    }
    return wanted;
  }

  Status merge(AdmissionAttributes& attributes, const ObjectEntry& entry) const {
    auto wanted = selector_without_conflict(attributes, entry);
    if (!wanted.ok()) return std::move(wanted).status();
    Object& spec = ensure_object(*attributes.object, "spec");
    for (const auto& [key, value] : *wanted) ensure_object(spec, "nodeSelector")[key] = value;
    return check(attributes, entry);
  }

  Status check(const AdmissionAttributes& attributes, const ObjectEntry& entry) const {
    auto wanted = selector_without_conflict(attributes, entry);
    if (!wanted.ok()) return std::move(wanted).status();
    auto allowed = labels_of_selector(configured(attributes.ns));
    if (!allowed.ok()) return std::move(allowed).status();
    if (is_label_subset(selector_of(*attributes.object), *allowed)) return {};
    return selector_refused(attributes, "pod node label selector labels conflict with its namespace whitelist");
  }

  const objects::Namespaces namespaces_;
  const LabelMap selectors_;  // by namespace, and the default of the cluster
};

}  // namespace

Result<std::shared_ptr<AdmissionPlugin>> make_pod_node_selector(Services& services, const AdmissionPluginConfig& config) {
  auto selectors = parse_node_selector_config(config.configuration);
  if (!selectors.ok()) return std::move(selectors).status();
  return std::shared_ptr<AdmissionPlugin>(std::make_shared<PodNodeSelector>(services, std::move(*selectors)));
}

}  // namespace backplane::admission::pods
