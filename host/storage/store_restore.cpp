// restore_snapshot() (store_snapshot.hpp): writes each object at the revision that it had in the snapshot.
#include <algorithm>

#include "storage/store_snapshot.hpp"

namespace backplane {
namespace {

constexpr std::size_t kGroup = 500;                    // the number of concurrent transactions, which the store syncs to the disk together
constexpr std::size_t kGroupBytes = 16 * 1024 * 1024;  // the limit of the total size of their values
constexpr std::size_t kKeysPerLease = 1000;
constexpr Revision kEmptyStore = 1;

Status wrong_revision(Revision wanted, Revision got) {
  return internal_error("the store has committed revision " + std::to_string(got) + " instead of " + std::to_string(wanted));
}

// A group of concurrent calls of the store.
struct Group {
  std::size_t running = 1;  // the number of running calls, and one for write_group() while it adds calls
  Status failed;
  Promise<bool> done;
  void end() {
    if (--running == 0) done.set(true);
  }
};

Task<void> raise(StorageBackend& to, Revision revision, std::shared_ptr<Group> group) {
  auto raising = to.raise_revision(revision);
  Status raised = co_await std::move(raising);
  if (!raised.ok() && group->failed.ok()) group->failed = std::move(raised);
  group->end();
}

Task<void> write(StorageBackend& to, TxnRequest request, Revision revision, std::shared_ptr<Group> group) {
  auto writing = to.txn(std::move(request));
  auto written = co_await std::move(writing);
  Status status = written.status();
  if (written.ok() && written->revision != revision) status = wrong_revision(revision, written->revision);
  if (!status.ok() && group->failed.ok()) group->failed = std::move(status);
  group->end();
}

class Restore {
 public:
  Restore(const SnapshotReader& from, const VerifiedSnapshot& verified, StorageBackend& to, RestoreSettings settings)
      : from_(from), items_(verified.items), to_(to), settings_(std::move(settings)) {}

  Task<Result<Revision>> run() {
    while (at_ < items_.size()) {
      auto writing = write_group();
      Status written;
      written = co_await std::move(writing);
      if (!written.ok()) co_return written;
      if (settings_.progress) settings_.progress(at_, items_.size());
    }
    auto finishing = finish();
    auto revision = co_await std::move(finishing);
    co_return revision;
  }

 private:
  // Starts the calls of a group in the order of their revisions and then waits for all of them. The store commits them in the order of the
  // calls.
  Task<Status> write_group() {
    auto group = std::make_shared<Group>();
    Executor& executor = *current_executor();
    std::size_t bytes = 0;
    for (std::size_t calls = 0; at_ < items_.size() && calls < kGroup && bytes < kGroupBytes; ++calls) {
      const Revision revision = items_[at_].revision;
      auto reading = read_revision(bytes);
      Result<TxnRequest> request;
      request = co_await std::move(reading);
      if (!request.ok()) {
        group->failed = request.status();
        break;
      }
      if (revision > last_ + 1) spawn(executor, *group, raise(to_, revision - 1, group));
      spawn(executor, *group, write(to_, std::move(*request), revision, group));
      last_ = revision;
    }
    group->end();
    bool ended = co_await group->done.future();
    (void)ended;
    co_return group->failed;
  }

  static void spawn(Executor& executor, Group& group, Task<void> task) {
    ++group.running;
    spawn_detached(executor, std::move(task));
  }

  // Reads all objects of the next revision, which one transaction must write.
  Task<Result<TxnRequest>> read_revision(std::size_t& bytes) {
    TxnRequest request;
    for (const Revision revision = items_[at_].revision; at_ < items_.size() && items_[at_].revision == revision; ++at_) {
      auto item = from_.read(items_[at_].place);
      if (!item.ok()) co_return std::move(item.status());
      Put put;
      put.key = std::move(item->key);
      put.value = std::move(item->value);
      bytes += put.value.size();
      if (item->lease != 0) {
        auto granting = lease();
        Result<LeaseId> granted;
        granted = co_await std::move(granting);
        if (!granted.ok()) co_return std::move(granted.status());
        put.lease = *granted;
      }
      request.puts.push_back(std::move(put));
    }
    co_return request;
  }

  Task<Result<LeaseId>> lease() {
    if (lease_ == 0 || ++leased_ > kKeysPerLease) {
      auto granting = to_.grant_lease(settings_.lease);
      auto granted = co_await std::move(granting);
      if (!granted.ok()) co_return std::move(granted.status());
      lease_ = *granted;
      leased_ = 1;
    }
    co_return lease_;
  }

  // Raises the revision and compacts to it: no client may get a revision older than one that it has received, and watches from older
  // revisions must expire.
  Task<Result<Revision>> finish() {
    const Revision revision = std::max(from_.header().revision, last_) + settings_.bump;
    auto raising = to_.raise_revision(revision);
    Status raised = co_await std::move(raising);
    if (!raised.ok()) co_return raised;
    auto compacting = to_.compact(revision);
    Status compacted = co_await std::move(compacting);
    if (!compacted.ok()) co_return compacted;
    co_return revision;
  }

  const SnapshotReader& from_;
  const std::vector<VerifiedSnapshot::Item>& items_;
  StorageBackend& to_;
  const RestoreSettings settings_;
  std::size_t at_ = 0;
  Revision last_ = kEmptyStore;
  LeaseId lease_ = 0;
  std::size_t leased_ = 0;
};

}  // namespace

Task<Result<Revision>> restore_snapshot(const SnapshotReader& from, const VerifiedSnapshot& verified, StorageBackend& to,
                                        RestoreSettings settings) {
  if (!to.can_raise_revision()) co_return internal_error("the store cannot continue at the snapshot's revision");
  Restore restore(from, verified, to, std::move(settings));
  auto running = restore.run();
  auto revision = co_await std::move(running);
  co_return revision;
}

}  // namespace backplane
