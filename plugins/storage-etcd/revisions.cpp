#include "revisions.hpp"

#include <algorithm>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "calls.hpp"

namespace backplane::etcd {
namespace {

using Answer = Result<Revision>;

// For so many turns of its loop at most a question waits for more who want to know.
constexpr int kMostTurns = 8;

// Goes on behind everything that is ready to run here.
struct NextTurn {
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> frame) const { current_executor()->post(frame); }
  void await_resume() const noexcept {}
};

}  // namespace

// Who wants to know: one asks, the others wait for the question after the one under way.
struct RevisionCalls::Askers {
  // Awaited by one who wants to know.  No answer: it is for this one to ask, for all that have gathered.
  class Wait {
   public:
    explicit Wait(Askers& askers) : askers_(askers) {}
    bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> frame) {
      const std::lock_guard lock(askers_.mutex);
      if (!std::exchange(askers_.asking, true)) return false;
      frame_ = frame;
      executor_ = current_executor();
      askers_.waiting.push_back(this);
      return true;
    }
    void await_resume() const noexcept {}
    std::optional<Answer> answer;

   private:
    friend struct Askers;
    Askers& askers_;
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
  // One of those who came meanwhile asks next; none: nobody asks any more.
  void hand_over() {
    std::vector<Wait*> next;
    {
      const std::lock_guard lock(mutex);
      if (waiting.empty()) {
        asking = false;
        return;
      }
      next.push_back(waiting.back());
      waiting.pop_back();
    }
    resume(std::move(next));
  }
  static void tell(std::vector<Wait*> waiting, const Answer& answer) {
    for (Wait* wait : waiting) wait->answer = answer;
    resume(std::move(waiting));
  }

 private:
  // Each loop is woken once, for all that wait there.  Who has been resumed may be gone.
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

RevisionCalls::RevisionCalls(const Settings& settings, Cluster& cluster, std::string key)
    : cluster_(cluster), clusters_(settings, cluster), key_(std::move(key)), askers_(std::make_unique<Askers>()) {}
RevisionCalls::~RevisionCalls() = default;

Task<Answer> RevisionCalls::ask(std::chrono::milliseconds patience) {
  pb::RangeRequest request;
  request.set_key(key_);
  request.set_count_only(true);
  auto asking = clusters_.here().call<RangeCall>(std::move(request), /*reads=*/true, patience);
  auto answer = co_await std::move(asking);
  if (!answer.ok()) co_return std::move(answer.status());
  co_return Revision{answer->header().revision()};
}

// As long as more come in each turn of this loop, which is busy then: the fewer calls the better.  Who is alone waits for one turn.
Task<void> RevisionCalls::gather() {
  std::size_t before = 0;
  for (int turn = 0; turn < kMostTurns; ++turn) {
    co_await NextTurn();
    const std::size_t now = askers_->count();
    if (now == before) co_return;
    before = now;
  }
}

// Who comes while a question is under way must not have its answer, which may be older than what was committed meanwhile.  Each question
// is asked by one who wants to know, on a loop that runs at least until then.
Task<Answer> RevisionCalls::current() {
  const Cluster::Turn turn(cluster_);
  if (!turn.entered()) co_return stopped_status();
  Askers::Wait wait(*askers_);
  co_await wait;
  if (wait.answer) co_return std::move(*wait.answer);
  auto gathering = gather();
  co_await std::move(gathering);
  const auto waiting = askers_->take();
  auto asking = ask(Cluster::kPatience);
  auto answer = co_await std::move(asking);
  Askers::tell(waiting, answer);
  askers_->hand_over();
  co_return answer;
}

}  // namespace backplane::etcd
