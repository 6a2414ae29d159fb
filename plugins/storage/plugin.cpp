// The plugin `storage`: the group storage.k8s.io.
#include "backplane/plugin.hpp"

#include "kinds.hpp"

namespace backplane::storage {
namespace {

class StoragePlugin final : public Plugin {
 public:
  Status provision(Host& host) override { return kit::install_group(host, "storage", storage_group(), storage_schemas()); }
};

}  // namespace
}  // namespace backplane::storage

BACKPLANE_PLUGIN(backplane::storage::StoragePlugin)
