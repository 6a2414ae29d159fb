// The plugin `policy`: the group policy.
#include "backplane/plugin.hpp"

#include "backplane/kit/group.hpp"
#include "policy_group_json.hpp"
#include "policy_v1_json.hpp"

namespace backplane::policy {
namespace {

class PolicyPlugin final : public Plugin {
 public:
  Status provision(Host& host) override {
    return kit::install_group(host, "policy", kit::read_group(policy_group_json()), kit::embedded_schemas({policy_v1_json()}));
  }
};

}  // namespace
}  // namespace backplane::policy

BACKPLANE_PLUGIN(backplane::policy::PolicyPlugin)
