#include "base/offload_pool.hpp"

#include <algorithm>
#include <string>

namespace backplane {
namespace {

std::atomic<OffloadPool*> g_offload_pool{nullptr};

}  // namespace

OffloadPool::OffloadPool(std::size_t count) {
  for (std::size_t i = 0; i < std::max<std::size_t>(count, 1); ++i)
    loops_.push_back(std::make_unique<IoLoop>("offload-" + std::to_string(i), /*may_block=*/true));  // what is large takes long
}
void OffloadPool::start() {
  for (auto& loop : loops_) loop->start();
}
void OffloadPool::stop() {
  for (auto& loop : loops_) loop->stop();
}

void set_offload_pool(OffloadPool* loops) noexcept { g_offload_pool.store(loops); }

OffloadIfLarge::OffloadIfLarge(std::size_t bytes) noexcept : executor_(nullptr) {
  OffloadPool* loops = bytes > kSmallBytes ? g_offload_pool.load() : nullptr;
  if (loops != nullptr && current_executor() != nullptr) executor_ = &loops->next();
}

}  // namespace backplane
