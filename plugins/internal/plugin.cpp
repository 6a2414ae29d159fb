// The plugin `internal`: the group internal.apiserver.k8s.io.
#include "backplane/plugin.hpp"

#include "backplane/kit/group.hpp"
#include "internal_group_json.hpp"
#include "internal_v1alpha1_json.hpp"

namespace backplane::internal {
namespace {

class InternalPlugin final : public Plugin {
 public:
  Status provision(Host& host) override {
    return kit::install_group(host, "internal", kit::read_group(internal_group_json()), kit::embedded_schemas({internal_v1alpha1_json()}));
  }
};

}  // namespace
}  // namespace backplane::internal

BACKPLANE_PLUGIN(backplane::internal::InternalPlugin)
