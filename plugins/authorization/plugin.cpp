// The plugin `authorization`: the group authorization.k8s.io.
#include "backplane/plugin.hpp"

#include "backplane/kit/group.hpp"
#include "authorization_group_json.hpp"
#include "authorization_v1_json.hpp"

namespace backplane::authorization {
namespace {

class AuthorizationPlugin final : public Plugin {
 public:
  Status provision(Host& host) override {
    return kit::install_group(host, "authorization", kit::read_group(authorization_group_json()), kit::embedded_schemas({authorization_v1_json()}));
  }
};

}  // namespace
}  // namespace backplane::authorization

BACKPLANE_PLUGIN(backplane::authorization::AuthorizationPlugin)
