#include "base/aside.hpp"

#include <algorithm>
#include <string>

namespace backplane {
namespace {

std::atomic<AsideLoops*> g_aside{nullptr};

}  // namespace

AsideLoops::AsideLoops(std::size_t count) {
  for (std::size_t i = 0; i < std::max<std::size_t>(count, 1); ++i)
    loops_.push_back(std::make_unique<IoLoop>("aside-" + std::to_string(i), /*may_block=*/true));  // what is large takes long
}
void AsideLoops::start() {
  for (auto& loop : loops_) loop->start();
}
void AsideLoops::stop() {
  for (auto& loop : loops_) loop->stop();
}

void set_aside_loops(AsideLoops* loops) noexcept { g_aside.store(loops); }

Aside::Aside(std::size_t bytes) noexcept : executor_(nullptr) {
  AsideLoops* loops = bytes > kFew ? g_aside.load() : nullptr;
  if (loops != nullptr && current_executor() != nullptr) executor_ = &loops->next();
}

}  // namespace backplane
