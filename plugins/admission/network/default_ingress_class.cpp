#include "network/default_ingress_class.hpp"

#include <chrono>

#include "backplane/core/json_access.hpp"
#include "backplane/points/hooks.hpp"

namespace backplane::admission::network {
namespace {

constexpr std::string_view kClassAnnotation = "kubernetes.io/ingress.class";
constexpr std::string_view kDefaultIngressMark = "ingressclass.kubernetes.io/is-default-class";

GroupVersionResource ingress_classes() { return {"networking.k8s.io", "v1", "ingressclasses"}; }

const Object& ingress_annotations(const Object& object) { return object_or_empty(object_or_empty(object, "metadata"), "annotations"); }

// The newest class that is marked as the default; of several equally old classes, the first by name. Empty if there is none.
std::string default_ingress_class(const Lister& classes) {
  std::string found, created;
  for (const ObjectRef& entry : classes.all()) {
    const Object ingress_class = decode(*entry, {});
    if (get_string(ingress_annotations(ingress_class), kDefaultIngressMark) != "true") continue;
    // Creation times are UTC in whole seconds, so their texts are in the order of the times.
    const std::string_view time = meta_text(ingress_class, "creationTimestamp");
    if (!found.empty() && (time < created || (time == created && entry->name() > found))) continue;
    found = entry->name();
    created = time;
  }
  return found;
}

class DefaultIngressClass final : public AdmissionPlugin {
 public:
  explicit DefaultIngressClass(Services& services) : host_(services.host()), classes_(services.lister(ingress_classes())) {}
  std::string_view name() const noexcept override { return "DefaultIngressClass"; }
  bool handles(AdmissionOperation operation) const noexcept override { return operation == AdmissionOperation::kCreate; }
  bool validates() const noexcept override { return false; }

  std::optional<Status> admit_now(AdmissionAttributes& attributes) const override {
    const bool ingress = attributes.resource.group == "networking.k8s.io" && attributes.resource.resource == "ingresses";
    if (!ingress || !attributes.subresource.empty() || attributes.object == nullptr) return Status();
    const Object& object = *attributes.object;
    if (has(object_or_empty(object, "spec"), "ingressClassName") || ingress_annotations(object).contains(kClassAnnotation)) return Status();
    if (!has_classes()) return std::nullopt;
    return set_default(*attributes.object);
  }
  // Waits up to ten seconds for the first list. Then the plugin uses the incomplete cache, because a failing list must not refuse
  // ingresses.
  Task<Status> admit(AdmissionAttributes& attributes) const override {
    constexpr std::chrono::milliseconds kPause{100};
    constexpr int kAttempts = 100;
    for (int attempt = 0; attempt < kAttempts && !has_classes(); ++attempt) co_await sleep_for(kPause);
    co_return set_default(*attributes.object);
  }

 private:
  // Returns true before all groups are served, so that writes of startup do not wait. Returns true if the server does not serve
  // IngressClasses.
  bool has_classes() const {
    return classes_.has_synced() || !host_.groups_complete().fired() || host_.find_storage(ingress_classes()) == nullptr;
  }
  Status set_default(Object& ingress) const {
    const std::string name = default_ingress_class(classes_);
    if (!name.empty()) ensure_object(ingress, "spec")["ingressClassName"] = name;
    return {};
  }

  Host& host_;
  const Lister classes_;
};

}  // namespace

Result<std::shared_ptr<AdmissionPlugin>> make_default_ingress_class(Services& services, const AdmissionPluginConfig&) {
  return std::shared_ptr<AdmissionPlugin>(std::make_shared<DefaultIngressClass>(services));
}

}  // namespace backplane::admission::network
