#include <backplane/plugin.hpp>

#include "simple_store.hpp"

using namespace backplane;

class SimpleStorePlugin final : public Plugin {
  Status provision(Host& host) override {
    return host.register_storage_backend("simple", [](const StorageBackendConfig&) { return open_simple_store(); });
  }
};
BACKPLANE_PLUGIN(SimpleStorePlugin)
