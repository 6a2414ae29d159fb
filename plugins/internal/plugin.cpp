// The plugin `internal`: the group internal.apiserver.k8s.io.
#include "backplane/plugin.hpp"

#include "backplane/kit/held_back.hpp"
#include "kinds.hpp"

namespace backplane::internal {
namespace {

class InternalPlugin final : public Plugin {
 public:
  Status provision(Host& host) override {
    auto group = internal_group();
    if (group.ok()) kit::hold_back(host, *group, {{"StorageVersion", {"StorageVersionAPI", "APIServerIdentity"}}});
    return kit::install_group(host, "internal", std::move(group), internal_schemas());
  }
};

}  // namespace
}  // namespace backplane::internal

BACKPLANE_PLUGIN(backplane::internal::InternalPlugin)
