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

// For so many turns of its loop at most a question waits for more who want to know.
constexpr int kMostTurns = 8;

// Goes on behind everything that is ready to run here.
struct NextTurn {
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> frame) const { current_executor()->post(frame); }
  void await_resume() const noexcept {}
};

}  // namespace

// Who wants to know: they wait for the question after the one under way.
struct RevisionCalls::Askers {
  class Wait {
   public:
    explicit Wait(RevisionCalls& calls) : calls_(calls) {}
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> frame) {
      frame_ = frame;
      executor_ = current_executor();
      Askers& askers = *calls_.askers_;
      bool first = false;
      {
        const std::lock_guard lock(askers.mutex);
        askers.waiting.push_back(this);
        first = !std::exchange(askers.asking, true);
      }
      // From here on it may be told, unless it is what begins.
      if (first) calls_.begin(executor_);
    }
    Answer await_resume() { return std::move(*answer_); }

   private:
    friend struct Askers;
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
  // Where one waits who came meanwhile; nothing: nobody asks any more.
  std::optional<Executor*> next() {
    const std::lock_guard lock(mutex);
    asking = !waiting.empty();
    return asking ? std::optional<Executor*>(waiting.back()->executor_) : std::nullopt;
  }
  static void tell(std::vector<Wait*> waiting, const Answer& answer) {
    for (Wait* wait : waiting) wait->answer_ = answer;
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

RevisionCalls::RevisionCalls(const Settings& settings, Cluster& cluster, Executor& elsewhere, std::string key)
    : cluster_(cluster), elsewhere_(elsewhere), clusters_(settings, cluster), key_(std::move(key)), askers_(std::make_unique<Askers>()) {}
RevisionCalls::~RevisionCalls() = default;

Task<Answer> RevisionCalls::ask(std::chrono::milliseconds patience) {
  const Cluster::Turn turn(cluster_);
  if (!turn.entered()) co_return stopped_status();
  pb::RangeRequest request;
  request.set_key(key_);
  request.set_count_only(true);
  // A connection that has broken, or is held up, says nothing of the others.
  if (Cluster& own = clusters_.here(); &own != &cluster_) {
    const auto begun = std::chrono::steady_clock::now();
    // Nor is it tried twice there.
    auto asking = own.call<RangeCall>(request, /*reads=*/false, std::min(patience, Cluster::kTry));
    auto answer = co_await std::move(asking);
    if (answer.ok()) co_return Revision{answer->header().revision()};
    patience -= std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begun);
    if (patience <= std::chrono::milliseconds::zero()) co_return std::move(answer.status());
  }
  auto asking = cluster_.call<RangeCall>(std::move(request), /*reads=*/true, patience);
  auto answer = co_await std::move(asking);
  if (!answer.ok()) co_return std::move(answer.status());
  co_return Revision{answer->header().revision()};
}

// As long as more come in each turn of this loop, which is busy then: the fewer calls the better.  Who is alone waits for one turn.
Task<void> RevisionCalls::gather() {
  std::size_t before = 1;  // who wants to know first
  for (int turn = 0; turn < kMostTurns; ++turn) {
    co_await NextTurn();
    const std::size_t now = askers_->count();
    if (now == before) co_return;
    before = now;
  }
}

// A question is asked where one waits for it, on a loop that runs at least until then, unless somebody may block that.
void RevisionCalls::begin(Executor* waiter) {
  IoExecutor* const loop = waiter == nullptr ? nullptr : waiter->io();
  spawn_detached(loop != nullptr && !loop->may_block() ? static_cast<Executor&>(*loop) : elsewhere_, question());
}

// Who comes while it is under way must not have its answer, which may be older than what was committed meanwhile.
Task<void> RevisionCalls::question() {
  auto gathering = gather();
  co_await std::move(gathering);
  const auto waiting = askers_->take();
  // Whatever happens, they are told, and the others are asked for.
  Answer answer = internal_error("etcd could not be asked for its revision");
  try {
    auto asking = ask(Cluster::kPatience);
    answer = co_await std::move(asking);
  } catch (...) {
  }
  if (const auto next = askers_->next()) begin(*next);
  // They have kept all this alive.
  Askers::tell(waiting, answer);
}

Task<Answer> RevisionCalls::current() {
  const Cluster::Turn turn(cluster_);
  if (!turn.entered()) co_return stopped_status();
  Askers::Wait wait(*this);
  auto answer = co_await wait;
  co_return answer;
}

}  // namespace backplane::etcd
