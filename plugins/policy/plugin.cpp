// The plugin `policy`: the group policy.
#include "backplane/plugin.hpp"

#include "backplane/kit/group.hpp"
#include "backplane/rest/former_versions.hpp"
#include "former_versions.hpp"
#include "policy_former_json.hpp"
#include "policy_group_json.hpp"
#include "policy_v1_json.hpp"

namespace backplane::policy {
namespace {

class PolicyPlugin final : public Plugin {
 public:
  Status provision(Host& host) override {
    const auto schemas = kit::embedded_schemas({policy_v1_json()});
    Status status = kit::install_group(host, "policy", kit::read_group(policy_group_json()), schemas);
    if (!status.ok()) return status;
    return add_former_versions(host.scheme(), "policy", policy_former_json(), schemas->front(),
                               {{{"PodDisruptionBudget", "policy/v1beta1"}, budget_from_v1beta1}});
  }
};

}  // namespace
}  // namespace backplane::policy

BACKPLANE_PLUGIN(backplane::policy::PolicyPlugin)
