#include "simple_store.hpp"

#include <backplane/points/storage_feed.hpp>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

using namespace backplane;

namespace {

// One version of a key; `removed`: a tombstone.
struct Version {
  KeyValue kv;
  bool removed = false;
  std::uint64_t number = 0;  // in commit order
};
using Versions = std::vector<Version>;  // by revision

// The newest version up to `revision`; null if the key does not exist then.
const KeyValue* at_revision(const Versions& versions, Revision revision) {
  for (auto each = versions.rbegin(); each != versions.rend(); ++each) {
    if (each->kv.mod_revision <= revision) return each->removed ? nullptr : &each->kv;
  }
  return nullptr;
}

// The event of the version at `index`.
StorageEvent event_of(const Versions& versions, std::size_t index) {
  StorageEvent event;
  const Version& version = versions[index];
  event.type = version.removed ? StorageEvent::Type::kDelete : StorageEvent::Type::kPut;
  event.kv = version.kv;
  if (index > 0 && !versions[index - 1].removed) {
    event.previous = versions[index - 1].kv.value;
    event.previous_revision = versions[index - 1].kv.mod_revision;
  }
  return event;
}

class SimpleStore final : public StorageBackend, private CommitHistory {
 public:
  ~SimpleStore() override { shut_down(); }

  Task<Result<Revision>> current_revision() override { co_return committed_.load(); }
  Revision committed_revision() const noexcept override { return committed_.load(); }

  Task<Result<RangeResult>> range(RangeRequest request) override {
    std::lock_guard lock(mutex_);
    co_return read(request);
  }

  // The feed is filled under the lock, so that watches see the commits in order, and woken without it, because watches may call back.
  Task<Result<TxnResult>> txn(TxnRequest request) override {
    Result<TxnResult> result;
    {
      std::lock_guard lock(mutex_);
      result = write(request);
    }
    feed_.wake();
    co_return result;
  }

  Result<std::unique_ptr<StorageWatch>> watch(std::string prefix, Revision after) override {
    std::lock_guard lock(mutex_);
    if (stopped_) return stopped();
    if (after + 1 < compacted_) return compacted();
    return feed_.watch(std::move(prefix), after);
  }

  Task<Status> compact(Revision revision) override {
    std::lock_guard lock(mutex_);
    co_return discard_before(revision);
  }

  Task<Result<LeaseId>> grant_lease(std::chrono::seconds ttl) override {
    std::lock_guard lock(mutex_);
    if (stopped_) co_return stopped();
    leases_.grant(++last_lease_, LeaseTable::Clock::now() + ttl);
    if (!lease_thread_.joinable()) lease_thread_ = std::thread([this] { remove_expired(); });
    changed_.notify_all();
    co_return last_lease_;
  }

  Task<Status> health(std::chrono::milliseconds) override {
    std::lock_guard lock(mutex_);
    co_return stopped_ ? stopped() : Status();
  }

  Task<Status> stop() override {
    shut_down();
    co_return Status();
  }

 private:
  static Status stopped() { return service_unavailable("the store has stopped"); }
  static Status compacted() { return expired("the requested revision has been compacted away"); }

  // ---- with the lock held
  Result<RangeResult> read(const RangeRequest& request) const {
    const Revision revision = request.revision == 0 ? committed_.load() : request.revision;
    if (stopped_) return stopped();
    if (revision > committed_) return bad_request("the requested revision is a future revision");
    if (revision < compacted_) return compacted();
    RangeResult out;
    out.revision = committed_;
    const auto end = request.end.empty() ? keys_.upper_bound(request.start) : keys_.lower_bound(request.end);
    for (auto key = keys_.lower_bound(request.start); key != end; ++key) {
      const KeyValue* found = at_revision(key->second, revision);
      if (found == nullptr) continue;
      ++out.count;
      if (request.count_only || (request.limit > 0 && static_cast<std::int64_t>(out.items.size()) == request.limit)) continue;
      out.items.push_back(*found);
      if (request.keys_only) out.items.back().value = {};
    }
    out.more = !request.count_only && static_cast<std::int64_t>(out.items.size()) < out.count;
    return out;
  }

  Result<TxnResult> write(const TxnRequest& request) {
    if (stopped_) return stopped();
    if (Status status = check_txn(request); !status.ok()) return status;
    for (const Put& put : request.puts) {
      if (put.lease != 0 && !leases_.has(put.lease)) return Status(Reason::kNotFound, "requested lease not found");
    }
    TxnResult out{true, committed_, {}};
    for (const Compare& compare : request.compares) {
      const KeyValue* found = newest(compare.key);
      if ((found == nullptr ? 0 : found->mod_revision) != compare.mod_revision) out.committed = false;
      if (found != nullptr) out.found.push_back(*found);
    }
    if (!out.committed) return out;
    out.found.clear();
    commit(request);
    out.revision = committed_;
    return out;
  }

  void commit(const TxnRequest& request) {
    std::vector<StorageEvent> events;
    for (const Put& put : request.puts) add({{put.key, put.value, 0, 0, put.lease}, false}, events);
    for (const std::string& key : request.removes) {
      if (newest(key) != nullptr) add({{key, {}, 0, 0, 0}, true}, events);
    }
    if (events.empty()) return;
    feed_.append(std::move(events), committed_ + 1);
    ++committed_;
  }

  void add(Version version, std::vector<StorageEvent>& events) {
    const KeyValue* old = newest(version.kv.key);
    version.kv.mod_revision = committed_ + 1;
    version.number = ++changes_;
    if (!version.removed) version.kv.create_revision = old == nullptr ? version.kv.mod_revision : old->create_revision;
    if (old != nullptr && old->lease != 0) leases_.detach(old->lease, old->key);
    if (version.kv.lease != 0) leases_.attach(version.kv.lease, version.kv.key);
    Versions& versions = keys_[version.kv.key];
    versions.push_back(std::move(version));
    events.push_back(event_of(versions, versions.size() - 1));
  }

  const KeyValue* newest(const std::string& key) const {
    const auto found = keys_.find(key);
    return found == keys_.end() ? nullptr : at_revision(found->second, committed_ + 1);
  }

  Status discard_before(Revision revision) {
    if (stopped_) return stopped();
    if (revision > committed_) return bad_request("the requested revision is a future revision");
    compacted_ = std::max(compacted_, revision);
    for (auto key = keys_.begin(); key != keys_.end();) {
      Versions& versions = key->second;
      while (versions.size() > 1 && versions[1].kv.mod_revision < revision) versions.erase(versions.begin());
      const bool gone = versions.size() == 1 && versions.front().removed && versions.front().kv.mod_revision < revision;
      key = gone ? keys_.erase(key) : std::next(key);
    }
    return {};
  }

  // ---- the other threads
  // For watches that begin before the feed's window, or have fallen out of it.
  Task<Result<EventBatch>> read_history(std::string prefix, Revision after, std::size_t limit) override {
    std::lock_guard lock(mutex_);
    if (after + 1 < compacted_) co_return compacted();
    std::map<std::uint64_t, StorageEvent> found;  // in commit order
    for (auto key = keys_.lower_bound(prefix); key != keys_.end() && key->first.starts_with(prefix); ++key) {
      for (std::size_t i = 0; i < key->second.size(); ++i) {
        if (key->second[i].kv.mod_revision > after) found.emplace(key->second[i].number, event_of(key->second, i));
      }
    }
    EventBatch batch;
    batch.revision = committed_;
    for (auto& [number, event] : found) {
      // A batch ends with a whole revision.
      if (batch.events.size() >= limit && batch.events.back().kv.mod_revision != event.kv.mod_revision) {
        batch.revision = batch.events.back().kv.mod_revision;
        break;
      }
      batch.events.push_back(std::move(event));
    }
    co_return batch;
  }

  void remove_expired() {
    std::unique_lock lock(mutex_);
    while (!stopped_) {
      const auto next = leases_.next_expiry();
      if (next) {
        changed_.wait_until(lock, *next);
      } else {
        changed_.wait(lock);
      }
      for (LeaseTable::Due& due : leases_.take_due(LeaseTable::Clock::now())) {
        TxnRequest request;
        request.removes = std::move(due.keys);
        commit(request);
      }
      lock.unlock();
      feed_.wake();
      lock.lock();
    }
  }

  void shut_down() {
    std::thread leases;
    {
      std::lock_guard lock(mutex_);
      stopped_ = true;
      leases.swap(lease_thread_);
      changed_.notify_all();
    }
    if (leases.joinable()) leases.join();
    feed_.close();
  }

  mutable std::mutex mutex_;
  std::map<std::string, Versions, std::less<>> keys_;
  std::uint64_t changes_ = 0;
  std::atomic<Revision> committed_{1};  // an empty store has the revision 1, as etcd's
  Revision compacted_ = 0;
  bool stopped_ = false;
  LeaseTable leases_;
  LeaseId last_lease_ = 0;
  std::condition_variable changed_;
  std::thread lease_thread_;
  CommitFeed feed_{*this, 1};
};

}  // namespace

Result<std::unique_ptr<StorageBackend>> open_simple_store() { return std::unique_ptr<StorageBackend>(std::make_unique<SimpleStore>()); }
