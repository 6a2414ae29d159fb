#include "revisions.hpp"

#include <algorithm>
#include <optional>

#include "calls.hpp"

namespace backplane::etcd {

Pace::Clock::duration Pace::take(Clock::time_point now) {
  const auto wait = std::max(due_ - kAtOnce * Clock::duration(kPeriod) - now, Clock::duration::zero());
  due_ = std::max(due_, now) + kPeriod;
  return wait;
}

Task<RevisionCalls::Answer> RevisionCalls::ask(std::chrono::milliseconds patience) {
  pb::RangeRequest request;
  request.set_key(key_);
  request.set_count_only(true);
  auto asking = cluster_.call<pb::RangeResponse>(StartRange(), std::move(request), /*reads=*/true, patience);
  auto answer = co_await std::move(asking);
  if (!answer.ok()) co_return std::move(answer.status());
  co_return Revision{answer->header().revision()};
}

// Who comes while a question is under way must not have its answer, which may be older than what was committed meanwhile.
Task<RevisionCalls::Answer> RevisionCalls::current() {
  const Cluster::Turn turn(cluster_);
  if (!turn.entered()) co_return stopped_status();
  Promise<Answer> own;
  bool asks = false;
  {
    const std::lock_guard lock(mutex_);
    asks = !std::exchange(asking_, true);
    if (!asks) next_askers_.push_back(own);
  }
  if (!asks) {
    auto shared = co_await own.future();
    // Promoted to ask for all that have gathered: the answer is 0 then.
    const bool promoted = shared.ok() && *shared == 0;
    if (!promoted) co_return shared;
  }
  Pace::Clock::duration pause{};
  {
    const std::lock_guard lock(mutex_);
    pause = pace_.take(Pace::Clock::now());
  }
  if (pause > Pace::Clock::duration::zero()) {
    auto pausing = sleep_for(pause);
    co_await std::move(pausing);
  }
  std::vector<Promise<Answer>> askers;
  {
    const std::lock_guard lock(mutex_);
    askers.swap(next_askers_);
  }
  auto asking = ask(Cluster::kPatience);
  auto answer = co_await std::move(asking);
  for (const auto& asker : askers) asker.set(answer);
  std::optional<Promise<Answer>> successor;
  {
    const std::lock_guard lock(mutex_);
    if (next_askers_.empty()) {
      asking_ = false;
    } else {
      successor = next_askers_.back();
      next_askers_.pop_back();
    }
  }
  if (successor) successor->set(Revision{0});
  co_return answer;
}

}  // namespace backplane::etcd
