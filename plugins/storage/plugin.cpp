// The plugin `storage`: the group storage.k8s.io.
#include "backplane/plugin.hpp"

#include "backplane/kit/group.hpp"
#include "storage_group_json.hpp"
#include "storage_v1_json.hpp"
#include "storage_v1beta1_json.hpp"

namespace backplane::storage {
namespace {

class StoragePlugin final : public Plugin {
 public:
  Status provision(Host& host) override {
    return kit::install_group(host, "storage", kit::read_group(storage_group_json()), kit::embedded_schemas({storage_v1_json(), storage_v1beta1_json()}));
  }
};

}  // namespace
}  // namespace backplane::storage

BACKPLANE_PLUGIN(backplane::storage::StoragePlugin)
