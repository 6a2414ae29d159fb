// The plugin storage-etcd: registers the backend "etcd3".
#include <backplane/plugin.hpp>

#include "etcd_storage.hpp"
#include "tls_files.hpp"

namespace backplane {
namespace {

class StorageEtcd final : public Plugin {
 public:
  Status provision(Host& host) override {
    const auto flag = [&host](std::string_view name) { return host.flag(name); };
    Status registered =
        host.register_storage_backend("etcd3", [&host](const StorageBackendConfig& config) { return open(host, config, ""); });
    // The stores of --etcd-servers-overrides are registered under the names that the host uses for them.
    for (const std::string& servers : etcd::overriding_servers(flag)) {
      if (!registered.ok()) return registered;
      registered = host.register_storage_backend(
          "etcd3#" + servers, [&host, servers](const StorageBackendConfig& config) { return open(host, config, servers); });
    }
    return registered;
  }

 private:
  static Result<std::unique_ptr<StorageBackend>> open(Host& host, const StorageBackendConfig& config, const std::string& servers) {
    auto settings = etcd::read_settings([&host](std::string_view flag) { return host.flag(flag); });
    if (!settings.ok()) return std::move(settings.status());
    if (!servers.empty()) settings = etcd::with_servers(std::move(*settings), servers);
    if (!settings.ok()) return std::move(settings.status());
    if (Status usable = etcd::check_tls_files(*settings); !usable.ok()) return usable;
    if (!config.stored_form.empty()) settings->stored_form = config.stored_form;
    return open_etcd_storage(std::move(*settings), config.connections, &host.logger());
  }
};

}  // namespace
}  // namespace backplane

using backplane::StorageEtcd;
BACKPLANE_PLUGIN(StorageEtcd)
