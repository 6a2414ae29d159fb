// The plugin `rbac`: the group rbac.authorization.k8s.io.
#include "backplane/plugin.hpp"

#include "backplane/kit/group.hpp"
#include "rbac_group_json.hpp"
#include "rbac_v1_json.hpp"

namespace backplane::rbac {
namespace {

class RbacPlugin final : public Plugin {
 public:
  Status provision(Host& host) override {
    return kit::install_group(host, "rbac", kit::read_group(rbac_group_json()), kit::embedded_schemas({rbac_v1_json()}));
  }
};

}  // namespace
}  // namespace backplane::rbac

BACKPLANE_PLUGIN(backplane::rbac::RbacPlugin)
