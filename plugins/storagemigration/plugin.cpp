// The plugin `storagemigration`: the group storagemigration.k8s.io.
#include "backplane/plugin.hpp"

#include "backplane/kit/group.hpp"
#include "storagemigration_group_json.hpp"
#include "storagemigration_v1beta1_json.hpp"

namespace backplane::storagemigration {
namespace {

class StoragemigrationPlugin final : public Plugin {
 public:
  Status provision(Host& host) override {
    return kit::install_group(host, "storagemigration", kit::read_group(storagemigration_group_json()), kit::embedded_schemas({storagemigration_v1beta1_json()}));
  }
};

}  // namespace
}  // namespace backplane::storagemigration

BACKPLANE_PLUGIN(backplane::storagemigration::StoragemigrationPlugin)
