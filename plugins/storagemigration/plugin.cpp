// The plugin `storagemigration`: the group storagemigration.k8s.io.
#include "backplane/plugin.hpp"

#include "kinds.hpp"

namespace backplane::storagemigration {
namespace {

class StorageMigrationPlugin final : public Plugin {
 public:
  Status provision(Host& host) override {
    if (host.flag("feature-gates.StorageVersionMigrator") != std::optional<std::string>("true")) return {};
    return kit::install_group(host, "storagemigration", storagemigration_group(), storagemigration_schemas());
  }
};

}  // namespace
}  // namespace backplane::storagemigration

BACKPLANE_PLUGIN(backplane::storagemigration::StorageMigrationPlugin)
