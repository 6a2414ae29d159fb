#include "app/process_pools.hpp"

#include <mutex>
#include <utility>

#include "base/cpu_limit.hpp"

namespace backplane {
namespace {

// The store's reads; documents that are made and parts of a compaction, one thread each at a time; history that resumed watches read, with
// two.
constexpr std::size_t kBlockingThreads = 6;

std::mutex g_mutex;  // what follows, and the making and the end of the pools
ProcessPools* g_pools = nullptr;
std::size_t g_shares = 0;

}  // namespace

ProcessPools::ProcessPools() : blocking_(kBlockingThreads), offload_(usable_cores() / 2) {
  set_blocking_executor(&blocking_);
  offload_.start();
  set_offload_pool(&offload_);
}

ProcessPools::~ProcessPools() {
  set_offload_pool(nullptr);
  offload_.stop();
  set_blocking_executor(nullptr);
  blocking_.stop();
}

std::shared_ptr<ProcessPools> ProcessPools::join() {
  const std::lock_guard lock(g_mutex);
  const MetricScope of_no_server(0);
  if (g_pools == nullptr) g_pools = new ProcessPools;
  ++g_shares;
  return {g_pools, [](ProcessPools*) {
            const std::lock_guard leaving(g_mutex);
            if (--g_shares == 0) delete std::exchange(g_pools, nullptr);
          }};
}

}  // namespace backplane
