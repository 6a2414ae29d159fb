// The plugin `internal`: the group internal.apiserver.k8s.io.
#include "backplane/plugin.hpp"

#include "kinds.hpp"

namespace backplane::internal {
namespace {

class InternalPlugin final : public Plugin {
 public:
  Status provision(Host& host) override { return kit::install_group(host, "internal", internal_group(), internal_schemas()); }
};

}  // namespace
}  // namespace backplane::internal

BACKPLANE_PLUGIN(backplane::internal::InternalPlugin)
