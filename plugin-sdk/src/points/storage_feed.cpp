#include "backplane/points/storage_feed.hpp"
#include "backplane/points/storage.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>

#include "backplane/core/turns.hpp"

namespace backplane BACKPLANE_API {

CommitHistory::~CommitHistory() = default;
CallerRunsExecutor::~CallerRunsExecutor() = default;

namespace {
thread_local constinit CallerRunsScope* t_caller_runs = nullptr;
}

CallerRunsScope::CallerRunsScope() noexcept : previous_(std::exchange(t_caller_runs, this)) {}
CallerRunsScope::~CallerRunsScope() {
  t_caller_runs = previous_;
  if (executor_ != nullptr) executor_->run_posted();
}

CallerRunsScope* CallerRunsScope::current() noexcept { return t_caller_runs; }

bool CallerRunsScope::accept(CallerRunsExecutor& executor) noexcept {
  if (executor_ == nullptr) executor_ = &executor;
  return executor_ == &executor;
}

namespace {

struct Commit {
  std::shared_ptr<const std::vector<StorageEvent>> events;
  Revision revision = 0;
  std::size_t bytes = 0;
};

std::size_t bytes_of(const std::vector<StorageEvent>& events) {
  std::size_t bytes = 0;
  for (const auto& event : events) bytes += sizeof(event) + event.kv.key.size() + event.kv.value.size() + event.previous.size();
  return bytes;
}

// Commits that every watch has received are kept in memory up to this size, for watches that begin slightly behind. Older commits are read
// from the store's history.
constexpr std::size_t kKeptBytes = 256 * 1024;

// The number of watches that may read the history at the same time; the limit keeps other readers of the store from being delayed.
constexpr std::size_t kHistoryReaders = 2;

Status ended() { return expired("the watch was ended: the store has stopped or the watch was cancelled"); }

}  // namespace

struct CommitFeed::State {
  State(CommitHistory& source, Revision start, Limits bounds) : history(source), limits(bounds), floor(start), newest(start) {}

  CommitHistory& history;
  const Limits limits;
  std::mutex mutex;
  std::deque<Commit> tail;  // commits in memory, in the order of their revisions
  Revision floor;           // events with greater revisions are in `tail`
  Revision newest;          // all commits up to this revision have been appended
  std::size_t events = 0;
  std::size_t bytes = 0;
  bool closed = false;
  std::vector<Promise<bool>> waiting;
  std::vector<const Revision*> taken;  // the positions of all watches
  Turns past{kHistoryReaders};
};

namespace {

class FeedWatch final : public StorageWatch {
 public:
  // Precondition: the caller holds the state's lock.
  FeedWatch(std::shared_ptr<CommitFeed::State> state, std::string prefix, Revision after)
      : state_(std::move(state)), prefix_(std::move(prefix)), after_(after), taken_(after) {
    state_->taken.push_back(&taken_);
  }
  ~FeedWatch() override {
    std::lock_guard lock(state_->mutex);
    std::erase(state_->taken, &taken_);
  }

  Task<Result<EventBatch>> next() override {
    for (;;) {
      Promise<bool> woken;
      EventBatch batch;
      const Step step = advance(batch, woken);
      if (step == Step::kEnded) co_return ended();
      if (step == Step::kBatch) co_return std::move(batch);
      if (step == Step::kWait) {
        co_await woken.future();
        continue;
      }
      auto waiting = state_->past.take();
      const Turns::Turn turn = co_await std::move(waiting);
      if (is_over()) co_return ended();
      auto reading = state_->history.read_history(prefix_, after_, state_->limits.batch);
      auto past = co_await std::move(reading);
      if (!past.ok()) co_return std::move(past.status());
      after_ = past->revision;
      co_return std::move(*past);
    }
  }

  void cancel() override {
    cancelled_.store(true);
    std::vector<Promise<bool>> waiting;
    {
      std::lock_guard lock(state_->mutex);
      waiting.swap(state_->waiting);
    }
    for (auto& waiter : waiting) waiter.set(true);
  }

 private:
  enum class Step { kEnded, kBatch, kWait, kHistory };

  // True if the watch has ended; read_history() must not be called then, because the owner of the history may have been destroyed.
  bool is_over() const {
    std::lock_guard lock(state_->mutex);
    return cancelled_.load() || state_->closed;
  }

  Step advance(EventBatch& batch, const Promise<bool>& woken) {
    std::vector<Commit> taken;
    {
      std::lock_guard lock(state_->mutex);
      taken_ = after_;
      if (cancelled_.load() || state_->closed) return Step::kEnded;
      if (after_ < state_->floor) return Step::kHistory;
      if (after_ >= state_->newest) {
        state_->waiting.push_back(woken);
        return Step::kWait;
      }
      auto first = std::upper_bound(state_->tail.begin(), state_->tail.end(), after_,
                                    [](Revision after, const Commit& commit) { return after < commit.revision; });
      std::size_t count = 0;
      for (; first != state_->tail.end() && count < state_->limits.batch; ++first) {
        taken.push_back(*first);
        count += first->events->size();
      }
      batch.revision = taken.empty() ? state_->newest : taken.back().revision;
    }
    for (const auto& commit : taken) {
      for (const auto& event : *commit.events) {
        // A commit may contain several revisions, and a watch may begin between them.
        if (event.kv.mod_revision > after_ && event.kv.key.starts_with(prefix_)) batch.events.push_back(event);
      }
    }
    after_ = batch.revision;
    return Step::kBatch;
  }

  std::shared_ptr<CommitFeed::State> state_;
  const std::string prefix_;
  Revision after_;
  Revision taken_;  // copy of after_ that the state's lock guards
  std::atomic<bool> cancelled_{false};
};

}  // namespace

CommitFeed::CommitFeed(CommitHistory& history, Revision floor) : CommitFeed(history, floor, Limits{}) {}
CommitFeed::CommitFeed(CommitHistory& history, Revision floor, Limits limits) : state_(std::make_shared<State>(history, floor, limits)) {}
CommitFeed::~CommitFeed() { close(); }

void CommitFeed::append(std::vector<StorageEvent> events, Revision revision) {
  Commit commit;
  commit.bytes = bytes_of(events);
  commit.events = std::make_shared<const std::vector<StorageEvent>>(std::move(events));
  commit.revision = revision;
  std::vector<Commit> dropped;  // Destroyed after the lock is released.
  std::lock_guard lock(state_->mutex);
  auto& state = *state_;
  state.newest = revision;
  state.events += commit.events->size();
  state.bytes += commit.bytes;
  state.tail.push_back(std::move(commit));
  // `limits` apply only if a watch has not received the oldest commit; otherwise kKeptBytes is the limit.
  Revision taken = revision;
  for (const Revision* each : state.taken) taken = std::min(taken, *each);
  const auto too_much = [&] {
    if (state.events > state.limits.max_events || state.bytes > state.limits.max_bytes) return true;
    return state.bytes > kKeptBytes && state.tail.front().revision <= taken;
  };
  while (state.tail.size() > 1 && too_much()) {
    auto& oldest = state.tail.front();
    state.floor = oldest.revision;
    state.events -= oldest.events->size();
    state.bytes -= oldest.bytes;
    dropped.push_back(std::move(oldest));
    state.tail.pop_front();
  }
}

void CommitFeed::wake() {
  std::vector<Promise<bool>> waiting;
  {
    std::lock_guard lock(state_->mutex);
    waiting.swap(state_->waiting);
  }
  for (auto& waiter : waiting) waiter.set(true);
}

void CommitFeed::wake_here() {
  const CallerRunsScope scope;
  wake();
}

Result<std::unique_ptr<StorageWatch>> CommitFeed::watch(std::string prefix, Revision after) {
  std::lock_guard lock(state_->mutex);
  if (state_->closed) return ended();
  return std::unique_ptr<StorageWatch>(std::make_unique<FeedWatch>(state_, std::move(prefix), after));
}

void CommitFeed::close() {
  {
    std::lock_guard lock(state_->mutex);
    state_->closed = true;
    state_->tail.clear();
  }
  wake();
}

void LeaseTable::grant(LeaseId id, Time expires) {
  leases_[id].expires = expires;
  by_expiry_.emplace(expires, id);
}

void LeaseTable::attach(LeaseId id, const std::string& key) {
  if (auto found = leases_.find(id); found != leases_.end()) found->second.keys.insert(key);
}

void LeaseTable::detach(LeaseId id, const std::string& key) {
  if (auto found = leases_.find(id); found != leases_.end()) found->second.keys.erase(key);
}

std::optional<LeaseTable::Time> LeaseTable::next_expiry() const {
  if (by_expiry_.empty()) return std::nullopt;
  return by_expiry_.begin()->first;
}

std::vector<LeaseTable::Due> LeaseTable::take_due(Time now) {
  std::vector<Due> due;
  while (!by_expiry_.empty() && by_expiry_.begin()->first <= now) {
    const LeaseId id = by_expiry_.begin()->second;
    by_expiry_.erase(by_expiry_.begin());
    auto lease = leases_.extract(id);
    due.push_back({id, {lease.mapped().keys.begin(), lease.mapped().keys.end()}});
  }
  return due;
}

namespace {

// The host limits the size of values to etcd's limit for protobuf, 1.5 MiB. As JSON, such a value has at most this many bytes.
constexpr std::size_t kMaxRequestBytes = 32 * 1024 * 1024;

std::size_t bytes_of(const TxnRequest& request) {
  std::size_t bytes = 0;
  for (const auto& compare : request.compares) bytes += compare.key.size();
  for (const auto& put : request.puts) bytes += put.key.size() + put.value.size();
  for (const auto& key : request.removes) bytes += key.size();
  return bytes;
}

}  // namespace

Status check_txn(const TxnRequest& request) {
  if (bytes_of(request) > kMaxRequestBytes) return Status(500, Reason::kNone, "etcdserver: request is too large");
  std::vector<std::string_view> keys;
  keys.reserve(request.puts.size() + request.removes.size());
  for (const auto& put : request.puts) keys.push_back(put.key);
  for (const auto& remove : request.removes) keys.push_back(remove);
  if (keys.size() > 1) std::sort(keys.begin(), keys.end());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i].empty()) return bad_request("a key of the transaction is empty");
    if (keys[i].find('\0') != std::string_view::npos) return bad_request("a key of the transaction holds a zero byte");
    if (i > 0 && keys[i] == keys[i - 1]) return bad_request("the transaction changes key " + quoted(keys[i]) + " twice");
  }
  return {};
}

std::string prefix_end(std::string prefix) {
  while (!prefix.empty() && static_cast<unsigned char>(prefix.back()) == 0xff) prefix.pop_back();
  if (!prefix.empty()) prefix.back() = static_cast<char>(static_cast<unsigned char>(prefix.back()) + 1);
  return prefix;
}

Task<Status> StorageBackend::raise_revision(Revision) { co_return Status(Reason::kInternalError, "this store cannot raise its revision"); }
StorageWatch::~StorageWatch() = default;
StorageBackend::~StorageBackend() = default;
Task<Status> StorageBackend::request_progress() { co_return Status(); }

}  // namespace BACKPLANE_API
