// The plugin `internal`: the group internal.apiserver.k8s.io.
#include "backplane/plugin.hpp"

#include "kinds.hpp"

namespace backplane::internal {
namespace {

class InternalPlugin final : public Plugin {
 public:
  Status provision(Host& host) override {
    const auto on = [&](const char* gate) { return host.flag(std::string("feature-gates.") + gate) == std::optional<std::string>("true"); };
    if (!on("StorageVersionAPI") || !on("APIServerIdentity")) return {};
    return kit::install_group(host, "internal", internal_group(), internal_schemas());
  }
};

}  // namespace
}  // namespace backplane::internal

BACKPLANE_PLUGIN(backplane::internal::InternalPlugin)
