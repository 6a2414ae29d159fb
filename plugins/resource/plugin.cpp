// The plugin `resource`: the group resource.k8s.io, stored as v1 and served as v1beta2 and v1beta1, too.
#include "backplane/plugin.hpp"

#include "admin_access.hpp"
#include "backplane/kit/group.hpp"
#include "conversion.hpp"
#include "kinds.hpp"
#include "resource_v1alpha3_json.hpp"
#include "resource_v1beta1_json.hpp"
#include "resource_v1beta2_json.hpp"

namespace backplane::resource {
namespace {

class ResourcePlugin final : public Plugin {
 public:
  Status provision(Host& host) override {
    if (Status status = add_conversions(host.scheme()); !status.ok()) return status;
    auto schemas = kit::embedded_schemas({resource_v1beta2_json(), resource_v1beta1_json(), resource_v1alpha3_json()});
    if (schemas.ok()) schemas->insert(schemas->begin(), stored_schemas());
    return kit::install_group(host, "resource", resource_group(std::make_shared<AdminAccessHooks>(host)), std::move(schemas));
  }
};

}  // namespace
}  // namespace backplane::resource

BACKPLANE_PLUGIN(backplane::resource::ResourcePlugin)
