// The plugin `storagemigration`: the group storagemigration.k8s.io.
#include "backplane/plugin.hpp"

#include "backplane/kit/deferred_install.hpp"
#include "kinds.hpp"

namespace backplane::storagemigration {
namespace {

class StorageMigrationPlugin final : public Plugin {
 public:
  Status provision(Host& host) override {
    auto group = storagemigration_group();
    if (group.ok()) kit::defer_gated_kinds(host, *group, {{"StorageVersionMigration", {"StorageVersionMigrator"}}});
    return kit::install_group(host, "storagemigration", std::move(group), storagemigration_schemas());
  }
};

}  // namespace
}  // namespace backplane::storagemigration

BACKPLANE_PLUGIN(backplane::storagemigration::StorageMigrationPlugin)
