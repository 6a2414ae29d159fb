#include "revisions.hpp"

#include <mutex>
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

// Who waits for the next question to be answered.
struct RevisionCalls::Askers {
  std::mutex mutex;
  std::vector<Promise<Answer>> waiting;
  bool asking = false;

  // True: nobody asks yet, and the caller is to see to it.
  bool add(const Promise<Answer>& asker) {
    const std::lock_guard lock(mutex);
    waiting.push_back(asker);
    return !std::exchange(asking, true);
  }
  std::size_t count() {
    const std::lock_guard lock(mutex);
    return waiting.size();
  }
  // None: the asking is over.
  std::vector<Promise<Answer>> take() {
    const std::lock_guard lock(mutex);
    if (waiting.empty()) asking = false;
    return std::exchange(waiting, {});
  }
};

RevisionCalls::RevisionCalls(Cluster& cluster, std::string key)
    : cluster_(cluster), key_(std::move(key)), askers_(std::make_shared<Askers>()) {}
RevisionCalls::~RevisionCalls() = default;

Task<Answer> RevisionCalls::ask(std::chrono::milliseconds patience) {
  pb::RangeRequest request;
  request.set_key(key_);
  request.set_count_only(true);
  auto asking = cluster_.call<pb::RangeResponse>(StartRange(), std::move(request), /*reads=*/true, patience);
  auto answer = co_await std::move(asking);
  if (!answer.ok()) co_return std::move(answer.status());
  co_return Revision{answer->header().revision()};
}

// Who comes while a question is under way must not have its answer, which may be older than what was committed meanwhile.
Task<Answer> RevisionCalls::current() {
  const Cluster::Turn turn(cluster_);
  if (!turn.entered()) co_return stopped_status();
  Promise<Answer> own;
  if (askers_->add(own)) spawn_detached(*current_executor(), ask_for_all(*this, askers_));
  auto answer = co_await own.future();
  co_return answer;
}

// As long as more come in each turn of this loop, which is busy then: the fewer calls the better.  Who is alone waits for one turn.
Task<void> RevisionCalls::gather(std::shared_ptr<Askers> askers) {
  std::size_t before = 0;
  for (int turn = 0; turn < kMostTurns; ++turn) {
    co_await NextTurn();
    const std::size_t now = askers->count();
    if (now == before) co_return;
    before = now;
  }
}

// `calls` may be gone once the last who waits has been answered: the cluster stays for as long as somebody waits.
Task<void> RevisionCalls::ask_for_all(RevisionCalls& calls, std::shared_ptr<Askers> askers) {
  for (;;) {
    auto gathering = gather(askers);
    co_await std::move(gathering);
    const auto waiting = askers->take();
    if (waiting.empty()) co_return;
    auto asking = calls.ask(Cluster::kPatience);
    const auto answer = co_await std::move(asking);
    for (const auto& asker : waiting) asker.set(answer);
  }
}

}  // namespace backplane::etcd
