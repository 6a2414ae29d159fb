#include "revisions.hpp"

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

// Who waits for the question after the one under way.
struct RevisionCalls::Askers {
  std::mutex mutex;
  std::vector<Promise<Answer>> waiting;
  bool asking = false;

  // True: nobody asks yet, and the caller does.
  bool begins(const Promise<Answer>& asker) {
    const std::lock_guard lock(mutex);
    if (!std::exchange(asking, true)) return true;
    waiting.push_back(asker);
    return false;
  }
  std::size_t count() {
    const std::lock_guard lock(mutex);
    return waiting.size();
  }
  std::vector<Promise<Answer>> take() {
    const std::lock_guard lock(mutex);
    return std::exchange(waiting, {});
  }
  // One of them; none: nobody asks any more.
  std::optional<Promise<Answer>> successor() {
    const std::lock_guard lock(mutex);
    if (waiting.empty()) {
      asking = false;
      return std::nullopt;
    }
    auto next = std::move(waiting.back());
    waiting.pop_back();
    return next;
  }
};

RevisionCalls::RevisionCalls(Cluster& cluster, std::string key)
    : cluster_(cluster), key_(std::move(key)), askers_(std::make_unique<Askers>()) {}
RevisionCalls::~RevisionCalls() = default;

Task<Answer> RevisionCalls::ask(std::chrono::milliseconds patience) {
  pb::RangeRequest request;
  request.set_key(key_);
  request.set_count_only(true);
  auto asking = cluster_.call<RangeCall>(std::move(request), /*reads=*/true, patience);
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
  Promise<Answer> own;
  if (!askers_->begins(own)) {
    auto shared = co_await own.future();
    // 0: it is for this one to ask, for all that have gathered.
    const bool asks = shared.ok() && *shared == 0;
    if (!asks) co_return shared;
  }
  auto gathering = gather();
  co_await std::move(gathering);
  const auto waiting = askers_->take();
  auto asking = ask(Cluster::kPatience);
  auto answer = co_await std::move(asking);
  for (const auto& asker : waiting) asker.set(answer);
  if (const auto next = askers_->successor()) next->set(Revision{0});
  co_return answer;
}

}  // namespace backplane::etcd
