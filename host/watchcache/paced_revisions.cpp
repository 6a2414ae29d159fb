#include "watchcache/paced_revisions.hpp"

#include <algorithm>
#include <utility>

#include "base/caught.hpp"
#include "watchcache/log.hpp"
#include "watchcache/prefix_cache.hpp"

namespace backplane {

Pace::Clock::duration Pace::take(Clock::time_point now) {
  const auto wait = std::max(due_ - kAtOnce * Clock::duration(kPeriod) - now, Clock::duration::zero());
  due_ = std::max(due_, now) + kPeriod;
  return wait;
}

Task<PacedRevisions::Answer> PacedRevisions::current(std::shared_ptr<FollowedStore> store) {
  Promise<Answer> own;
  Pace::Clock::duration pause{};
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    first = waiting_.empty();
    if (first) pause = pace_.take(Pace::Clock::now());
    if (!first || pause > Pace::Clock::duration::zero()) waiting_.push_back(own);
  }
  if (first && pause == Pace::Clock::duration::zero()) {
    auto asking = store->storage.current_revision();
    auto answer = co_await std::move(asking);
    co_return answer;
  }
  if (first && !store->tasks.spawn(store->executor, "ask for the revision", ask(store, pause))) {
    for (const auto& each : take()) each.set(service_unavailable("the caches are stopping"));
  }
  auto answer = co_await own.future();
  co_return answer;
}

std::vector<Promise<PacedRevisions::Answer>> PacedRevisions::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(waiting_, {});
}

// Sends one request for all callers that wait. A caller that arrives after the request was sent waits for the next request, because the
// response may be older than the caller's commits.
Task<void> PacedRevisions::ask(std::shared_ptr<FollowedStore> store, Pace::Clock::duration pause) {
  auto pausing = sleep_for(pause);
  co_await std::move(pausing);
  const auto waiting = store->paced.take();
  Answer answer;
  try {
    auto asking = store->storage.current_revision();
    answer = co_await std::move(asking);
  } catch (...) {
    const Caught bug = caught();
    watchcache_log().error("reading the store's revision failed error={}{}", bug.what, bug.stack);
    answer = service_unavailable("the store failed: " + bug.what);
  }
  for (const auto& each : waiting) each.set(answer);
}

}  // namespace backplane
