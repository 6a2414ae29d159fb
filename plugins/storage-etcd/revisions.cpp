#include "revisions.hpp"

#include <algorithm>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "backplane/net/io_executor.hpp"
#include "calls.hpp"

namespace backplane::etcd {
namespace {

using Answer = Result<Revision>;

// A request waits for further callers for at most this many turns of its loop.
constexpr int kMostTurns = 8;

// co_await NextTurn() resumes the coroutine after all work that this thread has posted to its executor.
struct NextTurn {
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> frame) const { current_executor()->post(frame); }
  void await_resume() const noexcept {}
};

}  // namespace

// The callers that wait for the next request.
struct RevisionCalls::Callers {
  class Wait {
   public:
    explicit Wait(RevisionCalls& calls) : calls_(calls) {}
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> frame) {
      frame_ = frame;
      executor_ = current_executor();
      Callers& callers = *calls_.callers_;
      bool first = false;
      {
        const std::lock_guard lock(callers.mutex);
        callers.waiting.push_back(this);
        first = !std::exchange(callers.asking, true);
      }
      // From here on another thread may resume the caller, which destroys this object.
      if (first) calls_.begin(executor_);
    }
    Answer await_resume() { return std::move(*answer_); }

   private:
    friend struct Callers;
    RevisionCalls& calls_;
    std::optional<Answer> answer_;
    std::coroutine_handle<> frame_;
    Executor* executor_ = nullptr;
  };

  std::mutex mutex;
  std::vector<Wait*> waiting;
  bool asking = false;

  std::size_t count() {
    const std::lock_guard lock(mutex);
    return waiting.size();
  }
  std::vector<Wait*> take() {
    const std::lock_guard lock(mutex);
    return std::exchange(waiting, {});
  }
  // The executor of a caller that waits for the next request; nullopt: no caller waits.
  std::optional<Executor*> next() {
    const std::lock_guard lock(mutex);
    asking = !waiting.empty();
    return asking ? std::optional<Executor*>(waiting.back()->executor_) : std::nullopt;
  }
  static void notify(std::vector<Wait*> waiting, const Answer& answer) {
    for (Wait* wait : waiting) wait->answer_ = answer;
    resume(std::move(waiting));
  }

 private:
  // Resumes the callers, with one post for each loop.  Wait objects are not used afterwards, because a resumed caller destroys its own.
  static void resume(std::vector<Wait*> waiting) {
    std::sort(waiting.begin(), waiting.end(), [](const Wait* a, const Wait* b) { return std::less<>()(a->executor_, b->executor_); });
    std::vector<std::pair<Executor*, std::vector<std::coroutine_handle<>>>> loops;
    for (const Wait* wait : waiting) {
      if (loops.empty() || loops.back().first != wait->executor_) loops.emplace_back().first = wait->executor_;
      loops.back().second.push_back(wait->frame_);
    }
    for (auto& [executor, frames] : loops) {
      auto work = [frames = std::move(frames)] {
        for (const auto frame : frames) frame.resume();
      };
      if (executor != nullptr) {
        executor->post(std::move(work));
      } else {
        work();
      }
    }
  }
};

RevisionCalls::RevisionCalls(Cluster& cluster, Executor& executor, std::string key)
    : cluster_(cluster), executor_(executor), key_(std::move(key)), callers_(std::make_unique<Callers>()) {}
RevisionCalls::~RevisionCalls() = default;

Task<Answer> RevisionCalls::ask(std::chrono::milliseconds timeout) {
  pb::RangeRequest request;
  request.set_key(key_);
  request.set_count_only(true);
  auto asking = cluster_.call<RangeCall>(std::move(request), /*reads=*/true, timeout);
  auto answer = co_await std::move(asking);
  if (!answer.ok()) co_return std::move(answer.status());
  co_return Revision{answer->header().revision()};
}

// Waits as long as each turn of the loop adds callers, so that fewer requests are needed on a busy loop.  A single caller waits for one
// turn.
Task<void> RevisionCalls::gather() {
  std::size_t before = 1;  // the first caller
  for (int turn = 0; turn < kMostTurns; ++turn) {
    co_await NextTurn();
    const std::size_t now = callers_->count();
    if (now == before) co_return;
    before = now;
  }
}

// Starts a request. It runs on the loop of a waiting caller, which runs at least until the response; if that loop may block, or there is
// none, it runs on executor_.
void RevisionCalls::begin(Executor* waiter) {
  IoExecutor* const loop = waiter == nullptr ? nullptr : waiter->io();
  spawn_detached(loop != nullptr && !loop->may_block() ? static_cast<Executor&>(*loop) : executor_, question());
}

// A request for the callers that wait when it is sent. A caller that arrives later must not get its response, which may be older than the
// caller's commits.
Task<void> RevisionCalls::question() {
  auto gathering = gather();
  co_await std::move(gathering);
  const auto waiting = callers_->take();
  // Every path must resume the callers and start a request for the callers that arrived meanwhile.
  Answer answer = internal_error("etcd could not be asked for its revision");
  try {
    auto asking = ask(Cluster::kCallTimeout);
    answer = co_await std::move(asking);
  } catch (...) {
  }
  if (const auto next = callers_->next()) begin(*next);
  // The last access to this object: it may be destroyed as soon as the callers have been resumed.
  Callers::notify(waiting, answer);
}

Task<Answer> RevisionCalls::current() {
  const Cluster::Turn turn(cluster_);
  if (!turn.entered()) co_return stopped_status();
  Callers::Wait wait(*this);
  auto answer = co_await wait;
  co_return answer;
}

}  // namespace backplane::etcd
