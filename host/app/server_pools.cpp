#include "app/server_pools.hpp"

namespace backplane {

ServerPools::ServerPools(PoolSizes sizes) : blocking_(sizes.blocking), offload_(sizes.offload) {
  set_blocking_executor(&blocking_);
  offload_.start();
  set_offload_pool(&offload_);
}

ServerPools::~ServerPools() {
  const ServerScope server(server_);
  set_offload_pool(nullptr);
  offload_.stop();
  set_blocking_executor(nullptr);
  blocking_.stop();
}

}  // namespace backplane
