// The plugin storage-rocksdb: registers the backend "rocksdb".
#include <backplane/plugin.hpp>

#include "rocksdb_storage.hpp"

namespace backplane {
namespace {

class StorageRocksdb final : public Plugin {
 public:
  Status provision(Host& host) override {
    Logger& logger = host.logger();
    return host.register_storage_backend("rocksdb", [&logger](const StorageBackendConfig& config) {
      if (config.unsafe_no_fsync) logger.warn("--unsafe-no-fsync: a power failure loses acknowledged writes");
      return open_rocksdb_storage(config, &logger);
    });
  }
};

}  // namespace
}  // namespace backplane

using backplane::StorageRocksdb;
BACKPLANE_PLUGIN(StorageRocksdb)
