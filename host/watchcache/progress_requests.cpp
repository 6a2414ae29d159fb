#include "watchcache/progress_requests.hpp"

#include "base/caught.hpp"
#include "watchcache/log.hpp"
#include "watchcache/prefix_cache.hpp"

namespace backplane {

ProgressRequests::Waiting::~Waiting() {
  if (!store_) return;
  std::lock_guard lock(store_->requests.mutex_);
  --store_->requests.waiting_;
}

ProgressRequests::Waiting ProgressRequests::wait(std::shared_ptr<FollowedStore> store) {
  if (store->storage.progress_is_immediate()) return Waiting(nullptr);
  bool begins = false;
  {
    std::lock_guard lock(mutex_);
    ++waiting_;
    begins = !std::exchange(asking_, true);
  }
  if (begins && !store->tasks.spawn(store->executor, "progress requests", ask(store))) {
    std::lock_guard lock(mutex_);
    asking_ = false;
  }
  return Waiting(std::move(store));
}

bool ProgressRequests::continue_requests() {
  std::lock_guard lock(mutex_);
  asking_ = waiting_ > 0;
  return asking_;
}

Task<void> ProgressRequests::ask(std::shared_ptr<FollowedStore> store) {
  while (!store->stopping.load() && store->requests.continue_requests()) {
    auto asking = ask_once(*store);
    co_await std::move(asking);
    auto pause = sleep_for(kPeriod);
    co_await std::move(pause);
  }
}

Task<void> ProgressRequests::ask_once(FollowedStore& store) {
  std::string problem;
  try {
    auto asking = store.storage.request_progress();
    const Status status = co_await std::move(asking);
    if (!status.ok()) problem = status.message();
  } catch (...) {
    problem = caught().what;
  }
  if (!problem.empty()) watchcache_log().warn("requesting the store's progress failed error={:?}", problem);
}

}  // namespace backplane
