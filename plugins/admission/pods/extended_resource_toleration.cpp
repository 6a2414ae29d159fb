#include "pods/extended_resource_toleration.hpp"

#include <set>

#include "backplane/core/json_access.hpp"
#include "backplane/types/resource_names.hpp"
#include "objects/request_match.hpp"
#include "pods/tolerations.hpp"

namespace backplane::admission::pods {
namespace {

constexpr std::string_view kRequestsPrefix = "requests.";

// helper.IsExtendedResourceName: a name with a domain, which a quota could count.
bool is_extended_resource(std::string_view name) {
  if (is_native_resource(name) || name.starts_with(kRequestsPrefix)) return false;
  return is_qualified_name(std::string(kRequestsPrefix) + std::string(name)).empty();
}

class ExtendedResourceToleration final : public AdmissionPlugin {
 public:
  std::string_view name() const noexcept override { return "ExtendedResourceToleration"; }
  bool handles(AdmissionOperation operation) const noexcept override {
    return operation == AdmissionOperation::kCreate || operation == AdmissionOperation::kUpdate;
  }
  bool validates() const noexcept override { return false; }

  std::optional<Status> admit_now(AdmissionAttributes& attributes) const override {
    if (!objects::is_main_write(attributes, "", "pods")) return Status();
    Object& spec = ensure_object(*attributes.object, "spec");
    std::set<std::string> resources;
    for (std::string_view list : {"containers", "initContainers"}) {
      each(spec, list, [&](const Object& container, std::size_t) {
        for (const auto& request : object_or_empty(object_or_empty(container, "resources"), "requests")) {
          if (is_extended_resource(request.key())) resources.emplace(request.key());
        }
      });
    }
    for (const std::string& resource : resources) add_or_replace_toleration(spec, toleration_of(resource, "NoSchedule"));
    return Status();
  }
};

}  // namespace

Result<std::shared_ptr<AdmissionPlugin>> make_extended_resource_toleration(Services&, const AdmissionPluginConfig&) {
  return std::shared_ptr<AdmissionPlugin>(std::make_shared<ExtendedResourceToleration>());
}

}  // namespace backplane::admission::pods
