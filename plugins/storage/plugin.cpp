// The plugin `storage`: the group storage.k8s.io.
#include "backplane/plugin.hpp"

#include "backplane/rest/former_versions.hpp"
#include "kinds.hpp"
#include "storage_former_json.hpp"

namespace backplane::storage {
namespace {

class StoragePlugin final : public Plugin {
 public:
  Status provision(Host& host) override {
    const auto schemas = storage_schemas();
    Status status = kit::install_group(host, "storage", storage_group(), schemas);
    return status.ok() ? add_former_versions(host.scheme(), "storage", storage_former_json(), schemas->front()) : status;
  }
};

}  // namespace
}  // namespace backplane::storage

BACKPLANE_PLUGIN(backplane::storage::StoragePlugin)
