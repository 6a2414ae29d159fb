// The plugin storage-etcd: registers the backend "etcd3".
#include <backplane/plugin.hpp>

#include "etcd_storage.hpp"

namespace backplane {
namespace {

class StorageEtcd final : public Plugin {
 public:
  Status provision(Host& host) override {
    return host.register_storage_backend("etcd3", [&host](const StorageBackendConfig& config) { return open(host, config); });
  }

 private:
  static Result<std::unique_ptr<StorageBackend>> open(Host& host, const StorageBackendConfig& config) {
    auto settings = etcd::read_settings([&host](std::string_view flag) { return host.flag(flag); });
    if (!settings.ok()) return std::move(settings.status());
    if (!config.stored_form.empty()) settings->stored_form = config.stored_form;
    return open_etcd_storage(std::move(*settings), &host.logger());
  }
};

}  // namespace
}  // namespace backplane

using backplane::StorageEtcd;
BACKPLANE_PLUGIN(StorageEtcd)
