// The plugin `authentication`: the group authentication.k8s.io.
#include "backplane/plugin.hpp"

#include "backplane/kit/group.hpp"
#include "authentication_group_json.hpp"
#include "authentication_v1_json.hpp"

namespace backplane::authentication {
namespace {

class AuthenticationPlugin final : public Plugin {
 public:
  Status provision(Host& host) override {
    return kit::install_group(host, "authentication", kit::read_group(authentication_group_json()), kit::embedded_schemas({authentication_v1_json()}));
  }
};

}  // namespace
}  // namespace backplane::authentication

BACKPLANE_PLUGIN(backplane::authentication::AuthenticationPlugin)
