// The plugin `batch`: the group batch.
#include "backplane/plugin.hpp"

#include "backplane/kit/group.hpp"
#include "batch_group_json.hpp"
#include "batch_v1_json.hpp"

namespace backplane::batch {
namespace {

class BatchPlugin final : public Plugin {
 public:
  Status provision(Host& host) override {
    return kit::install_group(host, "batch", kit::read_group(batch_group_json()), kit::embedded_schemas({batch_v1_json()}));
  }
};

}  // namespace
}  // namespace backplane::batch

BACKPLANE_PLUGIN(backplane::batch::BatchPlugin)
