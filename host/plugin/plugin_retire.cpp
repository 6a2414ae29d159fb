// Retires generations. Those of one change are retired on a separate thread. Their code is unmapped later.
#include "backplane/core/server_slot.hpp"
#include "plugin/log.hpp"
#include "plugin/plugin_registry.hpp"

namespace backplane {

// Joins the threads that have ended: an ended thread keeps its stack until it is joined.
void PluginRegistry::join_ended_retirers() {
  std::list<std::thread> ended;
  {
    const std::lock_guard lock(retiring_mutex_);
    for (auto each = retirers_.begin(); each != retirers_.end();) {
      const auto thread = each++;
      if (ended_retirers_.erase(thread->get_id()) > 0) ended.splice(ended.end(), retirers_, thread);
    }
  }
  for (auto& thread : ended) thread.join();
}

void PluginRegistry::retire(std::vector<GenerationRef> generations) {
  if (generations.empty()) return;
  join_ended_retirers();
  const std::lock_guard lock(retiring_mutex_);
  if (!unmapping_) {
    unmapping_.emplace("plugin-code", /*may_block=*/true);
    unmapping_->start();
  }
  ++retiring_;
  retirers_.emplace_back([this, generations = std::move(generations), slot = current_server_slot()]() mutable {
    const ServerScope server(slot);
    for (GenerationRef& generation : generations) end(std::move(generation));
    const std::lock_guard lock(retiring_mutex_);
    ended_retirers_.insert(std::this_thread::get_id());
    --retiring_;
    retired_.notify_all();
  });
}

void PluginRegistry::end(GenerationRef generation) {
  auto code = generation->retire(options_.limits, stop_waiting_);
  const std::string name = generation->name();
  if (!code) {
    const std::lock_guard lock(retiring_mutex_);
    kept_.push_back(std::move(generation));
  } else {
    generation.reset();
    ended_.fetch_add(1);
    auto shared = std::make_shared<MappedCode>(std::move(*code));
    if (options_.limits.code <= std::chrono::nanoseconds::zero()) {
      unmap(name, std::move(shared));
    } else {
      unmapping_->after(options_.limits.code, [this, name, shared] { unmap(name, shared); });
    }
  }
}

// Tries again later if a thread may run the code: a thread that is not scheduled for some time does not report whether it does.
void PluginRegistry::unmap(const std::string& name, std::shared_ptr<MappedCode> code, std::size_t attempt) {
  constexpr std::size_t kAttempts = 60;
  constexpr std::chrono::seconds kPause{1};
  const auto result = code->unmap();
  if (result == MappedCode::Unmapped::kDone) {
    plugin_details().info("the code of a former build has been unmapped plugin={}", name);
    unmapped_.fetch_add(1);
  } else if (result == MappedCode::Unmapped::kRunning && attempt < kAttempts) {
    unmapping_->after(kPause, [this, name, code = std::move(code), attempt] { unmap(name, code, attempt + 1); });
  } else {
    plugin_log().warn("the code of a former build is still in use, it stays mapped plugin={}", name);
  }
}

bool PluginRegistry::wait_retired(std::chrono::nanoseconds limit) {
  std::list<std::thread> ended;
  std::unique_lock lock(retiring_mutex_);
  if (!retired_.wait_for(lock, limit, [this] { return retiring_ == 0; })) return false;
  ended.swap(retirers_);
  ended_retirers_.clear();
  lock.unlock();
  for (auto& thread : ended) thread.join();
  return true;
}

void PluginRegistry::end_retirement_waits() { stop_waiting_.fire(); }

}  // namespace backplane
