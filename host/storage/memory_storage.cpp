#include "storage/memory_storage.hpp"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <shared_mutex>
#include <thread>

#include "backplane/core/server_slot.hpp"
#include "backplane/points/storage_feed.hpp"

namespace backplane {
namespace {

// The number of keys that are read or compacted before the lock is released, so that writers can run during a long range or compaction.
constexpr std::size_t kKeysPerLock = 1024;

struct Version {
  Revision mod = 0;
  Revision create = 0;
  LeaseId lease = 0;
  SharedBytes value;
  bool deleted = false;
};
using Versions = std::vector<Version>;  // sorted by revision

struct Change {
  Revision revision = 0;
  std::string key;
};

// The version that the key had at `revision`; null: it did not exist.
const Version* version_at(const Versions& versions, Revision revision) {
  for (auto it = versions.rbegin(); it != versions.rend(); ++it) {
    if (it->mod <= revision) return it->deleted ? nullptr : &*it;
  }
  return nullptr;
}

KeyValue key_value(const std::string& key, const Version& version, bool with_value) {
  return {key, with_value ? version.value : SharedBytes{}, version.create, version.mod, version.lease};
}

class MemoryStorage final : public StorageBackend, private CommitHistory {
 public:
  explicit MemoryStorage(std::string stored_form) : stored_form_(std::move(stored_form)) {}
  ~MemoryStorage() override { shut_down(); }

  std::string_view stored_form() const noexcept override { return stored_form_; }

  Task<Result<Revision>> current_revision() override { co_return committed_.load(); }
  Revision committed_revision() const noexcept override { return committed_.load(std::memory_order_acquire); }
  Task<Result<RangeResult>> range(RangeRequest request) override;
  Task<Result<TxnResult>> txn(TxnRequest request) override;
  Result<std::unique_ptr<StorageWatch>> watch(std::string prefix, Revision after) override;
  Task<Status> compact(Revision revision) override;
  Task<Result<LeaseId>> grant_lease(std::chrono::seconds ttl) override;
  Task<Status> health(std::chrono::milliseconds) override { co_return stopped_.load() ? stopped() : Status{}; }
  Task<Status> stop() override {
    shut_down();
    co_return Status{};
  }
  std::int64_t size_bytes() const noexcept override { return bytes_.load(std::memory_order_relaxed); }

 private:
  using Keys = std::map<std::string, Versions, std::less<>>;
  static Status stopped() { return service_unavailable("the memory store has stopped"); }
  static Status compacted() { return expired("the requested revision has been compacted away"); }

  Task<Result<EventBatch>> read_history(std::string prefix, Revision after, std::size_t limit) override;
  const Version* newest(std::string_view key) const;
  Status refuse(const TxnRequest& request) const;
  bool compares_hold(const TxnRequest& request) const;
  Revision apply(const TxnRequest& request);
  void apply_put(const Put& put, Revision revision, std::vector<StorageEvent>& events);
  void apply_remove(const std::string& key, Revision revision, std::vector<StorageEvent>& events);
  void add_version(const std::string& key, Versions& versions, Version version, std::vector<StorageEvent>& events);
  bool range_part(const RangeRequest& request, Revision at, std::string& from, RangeResult& result) const;
  StorageEvent event_of(const Change& change) const;
  bool compact_part(Revision revision);
  void expire_leases();
  void shut_down();

  const std::string stored_form_;
  mutable std::shared_mutex mutex_;  // guards the members below, except the atomics and feed_
  Keys keys_;
  std::deque<Change> log_;  // sorted by revision; may begin before the compacted revision while a compaction runs
  LeaseTable leases_;
  LeaseId last_lease_ = 0;
  std::condition_variable_any lease_granted_;
  std::thread lease_thread_;
  std::atomic<Revision> committed_{1};  // as in etcd, an empty store is at revision 1
  std::atomic<Revision> compacted_{0};
  std::atomic<std::int64_t> bytes_{0};
  std::atomic<bool> stopped_{false};
  CommitFeed feed_{*this, 1};
};

const Version* MemoryStorage::newest(std::string_view key) const {
  const auto found = keys_.find(key);
  return found == keys_.end() || found->second.back().deleted ? nullptr : &found->second.back();
}

// ---- reading

Task<Result<RangeResult>> MemoryStorage::range(RangeRequest request) {
  RangeResult result;
  std::string from = request.start;
  {
    std::shared_lock lock(mutex_);
    if (stopped_.load()) co_return stopped();
    result.revision = committed_.load();
  }
  const Revision at = request.revision == 0 ? result.revision : request.revision;
  if (at > result.revision) co_return bad_request("the requested revision is a future revision");
  bool more = true;
  while (more) {
    std::shared_lock lock(mutex_);
    if (at < compacted_.load()) co_return compacted();
    more = range_part(request, at, from, result);
  }
  result.more = static_cast<std::int64_t>(result.items.size()) < result.count && !request.count_only;
  co_return result;
}

bool MemoryStorage::range_part(const RangeRequest& request, Revision at, std::string& from, RangeResult& result) const {
  std::size_t looked_at = 0;
  for (auto it = keys_.lower_bound(from); it != keys_.end(); ++it) {
    if (request.end.empty() ? it->first != request.start : it->first >= request.end) return false;
    if (++looked_at > kKeysPerLock) {
      from = it->first;
      return true;
    }
    const Version* version = version_at(it->second, at);
    if (version == nullptr) continue;
    ++result.count;
    const bool full = request.limit > 0 && static_cast<std::int64_t>(result.items.size()) >= request.limit;
    if (full && request.skip_count) return false;
    if (!request.count_only && !full) result.items.push_back(key_value(it->first, *version, !request.keys_only));
  }
  return false;
}

StorageEvent MemoryStorage::event_of(const Change& change) const {
  StorageEvent event;
  const Versions& versions = keys_.find(change.key)->second;
  for (auto it = versions.rbegin(); it != versions.rend(); ++it) {
    if (it->mod == change.revision) {
      event.type = it->deleted ? StorageEvent::Type::kDelete : StorageEvent::Type::kPut;
      event.kv = key_value(change.key, *it, true);
    } else if (it->mod < change.revision) {
      if (!it->deleted) {
        event.previous = it->value;
        event.previous_revision = it->mod;
      }
      break;
    }
  }
  return event;
}

Task<Result<EventBatch>> MemoryStorage::read_history(std::string prefix, Revision after, std::size_t limit) {
  EventBatch batch;
  std::shared_lock lock(mutex_);
  if (after + 1 < compacted_.load()) co_return compacted();
  auto it = std::upper_bound(log_.begin(), log_.end(), after, [](Revision value, const Change& change) { return value < change.revision; });
  std::size_t looked_at = 0;
  batch.revision = committed_.load();
  for (; it != log_.end(); ++it, ++looked_at) {
    const bool enough = batch.events.size() >= limit || looked_at >= kKeysPerLock;
    if (enough && it->revision != std::prev(it)->revision) {
      batch.revision = std::prev(it)->revision;
      break;
    }
    if (it->key.starts_with(prefix)) batch.events.push_back(event_of(*it));
  }
  co_return batch;
}

Result<std::unique_ptr<StorageWatch>> MemoryStorage::watch(std::string prefix, Revision after) {
  if (stopped_.load()) return stopped();
  if (after + 1 < compacted_.load()) return compacted();
  return feed_.watch(std::move(prefix), after);
}

// ---- writing

Status MemoryStorage::refuse(const TxnRequest& request) const {
  if (stopped_.load()) return stopped();
  if (auto bad = check_txn(request); !bad.ok()) return bad;
  for (const auto& put : request.puts) {
    if (put.lease != 0 && !leases_.has(put.lease)) return Status(Reason::kNotFound, "requested lease not found");
  }
  return {};
}

bool MemoryStorage::compares_hold(const TxnRequest& request) const {
  for (const auto& compare : request.compares) {
    const Version* version = newest(compare.key);
    if ((version != nullptr ? version->mod : 0) != compare.mod_revision) return false;
  }
  return true;
}

void MemoryStorage::add_version(const std::string& key, Versions& versions, Version version, std::vector<StorageEvent>& events) {
  StorageEvent event;
  if (!versions.empty() && !versions.back().deleted) {
    const Version& old = versions.back();
    event.previous = old.value;
    event.previous_revision = old.mod;
    if (!version.deleted) version.create = old.create;
    if (old.lease != 0) leases_.detach(old.lease, key);
  }
  if (version.lease != 0) leases_.attach(version.lease, key);
  event.type = version.deleted ? StorageEvent::Type::kDelete : StorageEvent::Type::kPut;
  event.kv = key_value(key, version, true);
  bytes_.fetch_add(static_cast<std::int64_t>(key.size() + version.value.size()), std::memory_order_relaxed);
  log_.push_back({version.mod, key});
  versions.push_back(std::move(version));
  events.push_back(std::move(event));
}

void MemoryStorage::apply_put(const Put& put, Revision revision, std::vector<StorageEvent>& events) {
  add_version(put.key, keys_[put.key], {revision, revision, put.lease, put.value, false}, events);
}

void MemoryStorage::apply_remove(const std::string& key, Revision revision, std::vector<StorageEvent>& events) {
  if (newest(key) == nullptr) return;
  add_version(key, keys_.find(key)->second, {revision, 0, 0, SharedBytes{}, true}, events);
}

// Commits the request; the caller holds the lock. Returns the revision of the commit, or the store's revision if nothing has changed.
Revision MemoryStorage::apply(const TxnRequest& request) {
  const Revision revision = committed_.load() + 1;
  std::vector<StorageEvent> events;
  for (const auto& put : request.puts) apply_put(put, revision, events);
  for (const auto& key : request.removes) apply_remove(key, revision, events);
  if (events.empty()) return revision - 1;
  feed_.append(std::move(events), revision);
  committed_.store(revision, std::memory_order_release);
  return revision;
}

Task<Result<TxnResult>> MemoryStorage::txn(TxnRequest request) {
  TxnResult result;
  {
    std::unique_lock lock(mutex_);
    if (auto refused = refuse(request); !refused.ok()) co_return std::move(refused);
    result.committed = compares_hold(request);
    if (result.committed) {
      result.revision = apply(request);
    } else {
      result.revision = committed_.load();
      for (const auto& compare : request.compares) {
        if (const Version* version = newest(compare.key)) result.found.push_back(key_value(compare.key, *version, true));
      }
    }
  }
  if (result.committed) feed_.wake();
  co_return result;
}

// ---- compaction

Task<Status> MemoryStorage::compact(Revision revision) {
  {
    std::unique_lock lock(mutex_);
    if (stopped_.load()) co_return stopped();
    if (revision > committed_.load()) co_return bad_request("the requested revision is a future revision");
    if (revision <= compacted_.load()) co_return Status{};
    compacted_.store(revision);
  }
  while (compact_part(revision)) {
  }
  co_return Status{};
}

// Drops some of the versions that were superseded before `revision`. False: all of them have been dropped.
bool MemoryStorage::compact_part(Revision revision) {
  std::unique_lock lock(mutex_);
  for (std::size_t done = 0; done < kKeysPerLock; ++done) {
    if (log_.empty() || log_.front().revision >= revision) return false;
    const auto found = keys_.find(log_.front().key);
    if (found != keys_.end()) {
      Versions& versions = found->second;
      std::size_t drop = 0;
      while (drop + 1 < versions.size() && versions[drop + 1].mod < revision) ++drop;
      if (versions[drop].deleted && versions[drop].mod < revision) ++drop;
      for (std::size_t i = 0; i < drop; ++i) {
        bytes_.fetch_sub(static_cast<std::int64_t>(found->first.size() + versions[i].value.size()), std::memory_order_relaxed);
      }
      versions.erase(versions.begin(), versions.begin() + static_cast<std::ptrdiff_t>(drop));
      if (versions.empty()) keys_.erase(found);
    }
    log_.pop_front();
  }
  return true;
}

// ---- leases

Task<Result<LeaseId>> MemoryStorage::grant_lease(std::chrono::seconds ttl) {
  std::unique_lock lock(mutex_);
  if (stopped_.load()) co_return stopped();
  const LeaseId id = ++last_lease_;
  leases_.grant(id, LeaseTable::Clock::now() + ttl);
  // The thread is made at the first lease, because most stores have none.
  if (!lease_thread_.joinable()) {
    lease_thread_ = std::thread([this, slot = current_server_slot()] {
      const ServerScope server(slot);
      expire_leases();
    });
  }
  lease_granted_.notify_one();
  co_return id;
}

void MemoryStorage::expire_leases() {
  std::unique_lock lock(mutex_);
  while (!stopped_.load()) {
    const auto next = leases_.next_expiry();
    if (!next) {
      lease_granted_.wait(lock);
      continue;
    }
    lease_granted_.wait_until(lock, *next);
    bool changed = false;
    for (auto& due : leases_.take_due(LeaseTable::Clock::now())) {
      TxnRequest request;
      request.removes = std::move(due.keys);
      apply(request);
      changed = true;
    }
    if (!changed) continue;
    lock.unlock();
    feed_.wake();
    lock.lock();
  }
}

void MemoryStorage::shut_down() {
  std::thread leases;
  {
    std::unique_lock lock(mutex_);
    stopped_.store(true);
    leases.swap(lease_thread_);
    lease_granted_.notify_all();
  }
  if (leases.joinable()) leases.join();
  feed_.close();
}

}  // namespace

std::unique_ptr<StorageBackend> make_memory_storage(std::string stored_form) {
  return std::make_unique<MemoryStorage>(stored_form.empty() ? "json" : std::move(stored_form));
}

}  // namespace backplane
