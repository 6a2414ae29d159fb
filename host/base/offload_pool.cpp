#include "base/offload_pool.hpp"

#include <algorithm>
#include <string>

#include "backplane/core/server_slot.hpp"

namespace backplane {
namespace {

constinit PerServer<std::atomic<OffloadPool*>> offload_pools;

}  // namespace

OffloadPool::OffloadPool(std::size_t count) {
  for (std::size_t i = 0; i < std::max<std::size_t>(count, 1); ++i)
    loops_.push_back(std::make_unique<IoLoop>("offload-" + std::to_string(i), /*may_block=*/true));  // large requests take long
}
void OffloadPool::start() {
  for (auto& loop : loops_) loop->start();
}
void OffloadPool::stop() {
  for (auto& loop : loops_) loop->stop();
}

void set_offload_pool(OffloadPool* loops) noexcept { offload_pools.here().store(loops); }

OffloadIfLarge::OffloadIfLarge(std::size_t bytes) noexcept : executor_(nullptr) {
  OffloadPool* loops = bytes > kSmallBytes ? offload_pools.here().load() : nullptr;
  if (loops != nullptr && current_executor() != nullptr) executor_ = &loops->next();
}

}  // namespace backplane
