// The plugin `resource`: the group resource.k8s.io.
#include "backplane/plugin.hpp"

#include "backplane/kit/group.hpp"
#include "resource_group_json.hpp"
#include "resource_v1_json.hpp"
#include "resource_v1alpha3_json.hpp"
#include "resource_v1beta1_json.hpp"
#include "resource_v1beta2_json.hpp"

namespace backplane::resource {
namespace {

class ResourcePlugin final : public Plugin {
 public:
  Status provision(Host& host) override {
    return kit::install_group(host, "resource", kit::read_group(resource_group_json()), kit::embedded_schemas({resource_v1_json(), resource_v1beta2_json(), resource_v1beta1_json(), resource_v1alpha3_json()}));
  }
};

}  // namespace
}  // namespace backplane::resource

BACKPLANE_PLUGIN(backplane::resource::ResourcePlugin)
