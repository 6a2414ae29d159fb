// The plugin `rbac`: the group rbac.authorization.k8s.io.
#include "backplane/plugin.hpp"

#include "backplane/kit/group.hpp"
#include "roles.hpp"

namespace backplane::rbac {
namespace {

class RbacPlugin final : public Plugin {
 public:
  Status provision(Host& host) override { return kit::install_group(host, "rbac", rbac_group(), rbac_schemas()); }
};

}  // namespace
}  // namespace backplane::rbac

BACKPLANE_PLUGIN(backplane::rbac::RbacPlugin)
