// Retires generations. Those of one change are retired on a separate thread. Their code is unmapped later.
#include "backplane/core/metric_registry.hpp"
#include "backplane/core/server_slot.hpp"
#include "plugin/log.hpp"
#include "plugin/plugin_registry.hpp"

namespace backplane {

// The code of a generation that has retired, and the cells of its metrics, in which a thread of the plugin may still count.
struct PluginRegistry::FormerCode {
  std::string plugin;
  MappedCode code;
  std::shared_ptr<void> metrics;
};

// Keeps what code that stays mapped may use.
void PluginRegistry::keep_for_process(std::shared_ptr<FormerCode> former) {
  static std::mutex mutex;
  static auto* const kept = new std::vector<std::shared_ptr<FormerCode>>;
  const std::lock_guard lock(mutex);
  kept->push_back(std::move(former));
}

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
  const auto shared = std::make_shared<std::vector<GenerationRef>>(std::move(generations));
  try {
    retirers_.emplace_back([this, shared, slot = current_server_slot()] {
      const ServerScope server(slot);
      for (GenerationRef& generation : *shared) end(std::move(generation));
      const std::lock_guard lock(retiring_mutex_);
      ended_retirers_.insert(std::this_thread::get_id());
      --retiring_;
      retired_.notify_all();
    });
    ++retiring_;  // the thread cannot end before this: it needs the mutex
  } catch (const std::system_error& error) {
    for (GenerationRef& generation : *shared) {
      plugin_log().error("no thread can be created, a plugin that has been taken out of service stays in memory plugin={} error={:?}",
                         generation->name(), error.what());
      kept_.push_back(std::move(generation));
    }
  }
}

void PluginRegistry::end(GenerationRef generation) {
  auto code = generation->retire(options_.limits, stop_waiting_);
  const std::string name = generation->name();
  if (!code) {
    const std::lock_guard lock(retiring_mutex_);
    kept_.push_back(std::move(generation));
  } else {
    generation.reset();
    const GenerationRef running = find(name);
    auto metrics = withdraw_metrics(code->address(), running ? running->address() : nullptr);
    ended_.fetch_add(1);
    auto former = std::make_shared<FormerCode>(FormerCode{name, std::move(*code), std::move(metrics)});
    if (options_.limits.code <= std::chrono::nanoseconds::zero()) {
      unmap(std::move(former));
    } else {
      unmapping_->after(options_.limits.code, [this, former] { unmap(former); });
    }
  }
}

// Tries again later if a thread may run the code: a thread that is not scheduled for some time does not report whether it does.
void PluginRegistry::unmap(std::shared_ptr<FormerCode> former, std::size_t attempt) {
  constexpr std::size_t kAttempts = 60;
  constexpr std::chrono::seconds kPause{1};
  const auto result = former->code.unmap();
  if (result == MappedCode::Unmapped::kDone) {
    plugin_details().info("the code of a former build has been unmapped plugin={}", former->plugin);
    unmapped_.fetch_add(1);
  } else if (result == MappedCode::Unmapped::kRunning && attempt < kAttempts) {
    unmapping_->after(kPause, [this, former = std::move(former), attempt] { unmap(former, attempt + 1); });
  } else {
    plugin_log().warn("the code of a former build is still in use, it stays mapped plugin={}", former->plugin);
    keep_for_process(std::move(former));
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
