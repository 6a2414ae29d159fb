// The plugin `resource`: the group resource.k8s.io, stored as v1, also served as v1beta2 and v1beta1.
#include "backplane/plugin.hpp"

#include "admin_access.hpp"
#include "backplane/kit/deferred_install.hpp"
#include "backplane/kit/group.hpp"
#include "conversion.hpp"
#include "kinds.hpp"
#include "resource_v1alpha3_json.hpp"
#include "resource_v1beta1_json.hpp"
#include "resource_v1beta2_json.hpp"
#include "status_authorization.hpp"

namespace backplane::resource {
namespace {

class ResourcePlugin final : public Plugin {
 public:
  Status provision(Host& host) override {
    if (Status status = add_conversions(host.scheme()); !status.ok()) return status;
    auto schemas = kit::embedded_schemas({resource_v1beta2_json(), resource_v1beta1_json(), resource_v1alpha3_json()});
    if (schemas.ok()) schemas->insert(schemas->begin(), stored_schemas());
    if (!schemas.ok()) return std::move(schemas).status();
    auto document = resource_group(std::make_shared<AdminAccessHooks>(host), kit::gate_is_on(host, "DRAConsumableCapacity"));
    if (!document.ok()) return std::move(document).status();
    kit::GroupInstaller group(host, std::move(*document), std::move(*schemas));
    if (Status status = group.add_kinds(); !status.ok()) return status;
    group.put_words("resourceslices", [](const GroupVersionKind& kind) -> kit::LabelledStorage::Words {
      return {.labels = {"metadata.name", "spec.nodeName", "spec.driver"},
              .before = "field label not supported for " + kind.group_version().to_string() + ", Kind=" + kind.kind + ": "};
    });
    if (Status status = group.install("resource"); !status.ok()) return status;
    const bool granular = kit::gate_is_on(host, "DRAResourceClaimGranularStatusAuthorization");
    return host.register_admission(make_status_authorization(host, granular, kit::gate_is_on(host, "DRAResourceClaimDeviceStatus")));
  }
};

}  // namespace
}  // namespace backplane::resource

BACKPLANE_PLUGIN(backplane::resource::ResourcePlugin)
