#include "writer.hpp"

#include <pthread.h>

#include <algorithm>
#include <iterator>

#include "backplane/core/server_slot.hpp"
#include "batch.hpp"
#include "reader.hpp"
#include "records.hpp"

namespace backplane::rocks {
namespace {

constexpr std::size_t kMaxWaiting = 16 * 1024;              // the limit of waiting transactions; further ones are refused
constexpr std::size_t kMaxGroup = 1024;                     // the limit of transactions in one batch
constexpr std::chrono::hours kLongestLease{24 * 365 * 10};  // the limit of the remaining time of a stored lease
constexpr std::chrono::seconds kExpireAgain{30};            // the time until the next attempt for a lease whose keys could not be removed
constexpr std::chrono::seconds kCompactionDelay{10};        // after startup, compaction of files is disabled for this time
constexpr std::chrono::seconds kQuiet{5};                   // the interval of write_out_if_idle()
constexpr std::size_t kIdleBytes = 64 * 1024;               // a store that has written at most this in the interval is idle
constexpr std::size_t kMissedEvents = 1024;                 // the number of events that reload() reads at a time
constexpr std::size_t kFewEvents = 4;                       // up to this number of events, the caches' thread is not woken (wake_watches())
constexpr std::size_t kFewEventBytes = 64 * 1024;           // the limit of the size of these events
constexpr std::size_t kMaxGroupBytes = 8 * 1024 * 1024;     // the size of values at which a batch gets no further transactions

std::size_t bytes_of(const Pending& pending) {
  std::size_t bytes = 0;
  for (const auto& put : pending.request.puts) bytes += put.value.size();
  return bytes;
}

// The system time. Expiry times are stored as system times, because leases survive a restart.
std::chrono::milliseconds wall_time() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch());
}

std::chrono::milliseconds time_left(std::uint64_t expires) {
  const auto left = std::chrono::milliseconds(static_cast<std::int64_t>(expires)) - wall_time();
  return std::clamp<std::chrono::milliseconds>(left, std::chrono::milliseconds(0), kLongestLease);
}

KeyValue key_value(const std::string& key, const KeyState& state) { return {key, state.value, state.create, state.mod, state.lease}; }

}  // namespace

Writer::Writer(Database& database, const Reader& reader, Revision revision, bool sync, CommitFeed& feed)
    : database_(database),
      reader_(reader),
      sync_(sync),
      feed_(feed),
      committed_(revision),
      revision_(revision),
      merge_at_(LeaseTable::Clock::now() + kCompactionDelay) {}
Writer::~Writer() { stop(); }

Status Writer::load_leases() {
  leases_ = LeaseTable();
  const Database::Reading reading(database_);
  std::unique_ptr<rocksdb::Iterator> it(reading.db().NewIterator(rocksdb::ReadOptions(), reading.family(Family::kDefault)));
  for (it->Seek("lease/"); it->Valid() && it->key().starts_with("lease/"); it->Next()) {
    const auto id = parse_number(std::string_view(it->key().data(), it->key().size()).substr(6));
    const auto expires = parse_number({it->value().data(), it->value().size()});
    if (!id || !expires) return damaged("a lease", it->key().ToString());
    last_lease_ = std::max(last_lease_, static_cast<LeaseId>(*id));
    leases_.grant(static_cast<LeaseId>(*id), LeaseTable::Clock::now() + time_left(*expires));
  }
  const std::size_t head = std::string_view("lease-key/").size();
  for (it->Seek("lease-key/"); it->Valid() && it->key().starts_with("lease-key/"); it->Next()) {
    const std::string_view row(it->key().data(), it->key().size());
    const auto id = row.size() > head + 8 ? parse_number(row.substr(head, 8)) : std::nullopt;
    if (!id) return damaged("a lease's key", row);
    leases_.attach(static_cast<LeaseId>(*id), std::string(row.substr(head + 8)));
  }
  return it->status().ok() ? Status{} : to_status(it->status(), "read the leases");
}

void Writer::start() {
  thread_ = std::thread([this, slot = current_server_slot()] {
    const ServerScope server(slot);
    pthread_setname_np(pthread_self(), "store-writer");
    run();
  });
}

void Writer::stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_.notify_one();
  if (thread_.joinable()) thread_.join();
}

Status Writer::submit(Pending pending) {
  bool wake = false;
  {
    std::lock_guard lock(mutex_);
    if (stopping_) return stopped_status();
    if (queue_.size() >= kMaxWaiting) return service_unavailable("the store is overloaded: too many writes wait");
    wake = queue_.empty();
    queue_.push_back(std::move(pending));
  }
  if (wake) work_.notify_one();
  return {};
}

Status Writer::health() {
  std::lock_guard lock(mutex_);
  if (stopping_) return stopped_status();
  if (!health_.ok()) {
    recovery_wanted_ = true;
    work_.notify_one();
  }
  return health_;
}

Status Writer::newest_health() const {
  std::lock_guard lock(mutex_);
  return health_;
}

void Writer::recover() {
  Status status = database_.resume();
  if (status.ok()) status = reload();
  set_health(std::move(status));
}

// Reads the state from the disk again, because a write that was reported as failed may have reached the disk. Publishes the events of such
// a write, and reads the lease table.
Status Writer::reload() {
  const auto opened = read_opened(database_);
  if (!opened.ok()) return opened.status();
  while (committed_.load() < opened->revision) {
    auto missed = reader_.events("", committed_.load(), kMissedEvents);
    if (!missed.ok()) return std::move(missed.status());
    feed_.append(std::move(missed->events), missed->revision);
    feed_.wake();
    committed_.store(missed->revision, std::memory_order_release);
  }
  revision_ = std::max(revision_, opened->revision);
  return load_leases();
}

void Writer::refuse(std::vector<Pending> group) {
  const Status why = newest_health();
  for (auto& pending : group) pending.done.set(Result<TxnResult>(why));
}

void Writer::set_health(Status status) {
  std::lock_guard lock(mutex_);
  health_ = std::move(status);
}

// The time of the next work that no transaction triggers: the expiry of a lease, merge_when_due() or write_out_if_idle().
std::optional<LeaseTable::Time> Writer::next_due() const {
  // While the store cannot be written to, the keys of a lease cannot be removed, so expiries are ignored.
  const auto expiry = health_.ok() ? leases_.next_expiry() : std::nullopt;
  auto due = expiry;
  for (const auto& other : {merge_at_, look_at_}) {
    if (other && (!due || *other < *due)) due = other;
  }
  return due;
}

void Writer::count_written(std::size_t bytes) {
  written_ += bytes;
  if (!look_at_) look_at_ = LeaseTable::Clock::now() + kQuiet;
}

void Writer::write_out_if_idle() {
  const auto now = LeaseTable::Clock::now();
  if (!look_at_ || now < *look_at_) return;
  look_at_.reset();
  if (std::exchange(written_, 0) > kIdleBytes) {
    look_at_ = now + kQuiet;
  } else {
    database_.write_out_if_large();
  }
}

void Writer::merge_when_due() {
  if (!merge_at_ || LeaseTable::Clock::now() < *merge_at_) return;
  merge_at_.reset();
  database_.merge_files();
}

// Waits for transactions, for the next due work, for a requested recovery or for stop(). Returns the next group of transactions, which may
// be empty.
std::vector<Pending> Writer::take() {
  std::unique_lock lock(mutex_);
  const auto ready = [this] { return stopping_ || recovery_wanted_ || !queue_.empty(); };
  if (const auto due = next_due()) {
    work_.wait_until(lock, *due, ready);
  } else {
    work_.wait(lock, ready);
  }
  std::vector<Pending> group;
  std::size_t bytes = 0;
  std::size_t count = 0;
  while (count < queue_.size() && count < kMaxGroup && bytes < kMaxGroupBytes) bytes += bytes_of(queue_[count++]);
  if (count == queue_.size()) {
    group.swap(queue_);
    return group;
  }
  const auto end = queue_.begin() + static_cast<std::ptrdiff_t>(count);
  group.assign(std::make_move_iterator(queue_.begin()), std::make_move_iterator(end));
  queue_.erase(queue_.begin(), end);
  return group;
}

void Writer::run() {
  for (;;) {
    auto group = take();
    merge_when_due();
    write_out_if_idle();
    if (group.empty()) {
      std::unique_lock lock(mutex_);
      if (stopping_ && queue_.empty()) return;
      if (std::exchange(recovery_wanted_, false)) {
        lock.unlock();
        recover();
        continue;
      }
    }
    if (!newest_health().ok()) recover();
    if (newest_health().ok()) {
      write(std::move(group));
    } else {
      refuse(std::move(group));
    }
  }
}

void Writer::write(std::vector<Pending> group) {
  std::vector<Result<TxnResult>> answers(group.size());
  Status failed;
  std::size_t bytes = 0;
  std::optional<std::size_t> events;  // the number of events of the batch; nullopt: nothing was written
  for (const Pending& pending : group) bytes += bytes_of(pending);
  {
    const Database::Reading reading(database_);
    Batch batch(reading, bytes);
    for (std::size_t i = 0; i < group.size(); ++i) decide(group[i], batch, answers[i]);
    expire_leases(batch);
    if (!batch.empty()) {
      // A revision is not used again even if its write fails: the failed write may be on the disk.
      const auto status = batch.write(sync_, revision_);
      if (!status.ok()) {
        failed = to_status(status, "write to the store");
      } else {
        count_written(bytes);
        auto written = batch.take_events();
        events = written.size();
        feed_.append(std::move(written), revision_);
        committed_.store(revision_, std::memory_order_release);
      }
      set_health(failed);
    }
  }
  for (std::size_t i = 0; i < group.size(); ++i) {
    group[i].done.set(failed.ok() ? std::move(answers[i]) : Result<TxnResult>(failed));
  }
  if (events) wake_watches(*events <= kFewEvents && bytes <= kFewEventBytes);
}

void Writer::wake_watches(bool few) {
  bool idle = false;
  {
    std::lock_guard lock(mutex_);
    idle = queue_.empty() && !stopping_;
  }
  if (idle && few) {
    feed_.wake_here();
  } else {
    feed_.wake();
  }
}

void Writer::decide(Pending& pending, Batch& batch, Result<TxnResult>& answer) {
  if (pending.lease_ttl.count() > 0) return grant(pending.lease_ttl, batch, answer);
  if (pending.raise_to > 0) return raise(pending.raise_to, batch, answer);
  decide_txn(pending.request, batch, answer);
}

void Writer::decide_txn(const TxnRequest& request, Batch& batch, Result<TxnResult>& answer) {
  TxnResult result;
  result.committed = true;
  for (const auto& put : request.puts) {
    if (put.lease != 0 && !leases_.has(put.lease)) {
      answer = Status(Reason::kNotFound, "requested lease not found");
      return;
    }
  }
  for (const auto& compare : request.compares) {
    auto state = batch.find(compare.key);
    if (!state.ok()) {
      answer = std::move(state.status());
      return;
    }
    if ((*state)->mod != compare.mod_revision) result.committed = false;
  }
  if (!result.committed) {
    for (const auto& compare : request.compares) {
      auto state = batch.find(compare.key);
      if (state.ok() && (*state)->exists) result.found.push_back(key_value(compare.key, **state));
    }
    result.revision = revision_;
    answer = std::move(result);
    return;
  }
  apply(request, batch, result, answer);
}

// Applies a transaction to the batch. Reads all keys before it changes the first one, so that the batch is unchanged if a key cannot be
// read.
void Writer::apply(const TxnRequest& request, Batch& batch, TxnResult& result, Result<TxnResult>& answer) {
  std::vector<std::string> removes;
  for (const auto& put : request.puts) {
    auto state = batch.find(put.key);
    if (!state.ok()) {
      answer = std::move(state.status());
      return;
    }
  }
  for (const auto& key : request.removes) {
    auto state = batch.find(key);
    if (!state.ok()) {
      answer = std::move(state.status());
      return;
    }
    if ((*state)->exists) removes.push_back(key);
  }
  if (!request.puts.empty() || !removes.empty()) ++revision_;
  std::uint32_t index = 0;
  Status status;
  for (const auto& put : request.puts) {
    move_lease(batch, put.key, put.lease);
    if (status.ok()) status = batch.put(put, revision_, index++);
  }
  for (const auto& key : removes) {
    move_lease(batch, key, 0);
    if (status.ok()) status = batch.remove(key, revision_, index++);
  }
  result.revision = revision_;
  if (status.ok()) {
    answer = std::move(result);
  } else {
    answer = std::move(status);
  }
}

// Updates the lease table for a key that is about to change. `lease`: the key's new lease; 0: none.
void Writer::move_lease(Batch& batch, const std::string& key, LeaseId lease) {
  auto state = batch.find(key);
  if (state.ok() && (*state)->lease != 0) leases_.detach((*state)->lease, key);
  if (lease != 0) leases_.attach(lease, key);
}

void Writer::grant(std::chrono::seconds ttl, Batch& batch, Result<TxnResult>& answer) {
  const LeaseId id = ++last_lease_;
  batch.set_row(lease_row(id), number(static_cast<std::uint64_t>((wall_time() + ttl).count())));
  leases_.grant(id, LeaseTable::Clock::now() + ttl);
  TxnResult result;
  result.committed = true;
  result.revision = id;
  answer = std::move(result);
}

void Writer::raise(Revision revision, Batch& batch, Result<TxnResult>& answer) {
  revision_ = std::max(revision_, revision);
  batch.set_row("revision", number(static_cast<std::uint64_t>(revision_)));
  TxnResult result;
  result.committed = true;
  result.revision = revision_;
  answer = std::move(result);
}

void Writer::expire_leases(Batch& batch) {
  for (auto& due : leases_.take_due(LeaseTable::Clock::now())) {
    TxnRequest request;
    request.removes = std::move(due.keys);
    Result<TxnResult> removed;
    decide_txn(request, batch, removed);
    if (removed.ok()) {
      batch.remove_row(lease_row(due.id));
      continue;
    }
    // A key cannot be read. The keys keep the lease, because without a lease they would never be removed.
    leases_.grant(due.id, LeaseTable::Clock::now() + kExpireAgain);
    for (const auto& key : request.removes) leases_.attach(due.id, key);
  }
}

}  // namespace backplane::rocks
