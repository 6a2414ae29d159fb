// For tests: a memory store whose transactions take a millisecond, as if they were written to a disk. It counts transactions that lose a
// conflict.
//
// Thread-safety: any thread.
// Errors:        those of the memory store.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "storage/memory_storage.hpp"

namespace backplane {

class BusyStorage final : public StorageBackend {
 public:
  std::atomic<int> lost{0};

  Task<Result<Revision>> current_revision() override { return below_->current_revision(); }
  Revision committed_revision() const noexcept override { return below_->committed_revision(); }
  Task<Result<RangeResult>> range(RangeRequest request) override { return below_->range(std::move(request)); }
  Task<Result<TxnResult>> txn(TxnRequest request) override {
    auto pause = sleep_for(std::chrono::milliseconds(1));
    co_await std::move(pause);
    auto writing = below_->txn(std::move(request));
    auto done = co_await std::move(writing);
    if (done.ok() && !done->committed) ++lost;
    co_return done;
  }
  Result<std::unique_ptr<StorageWatch>> watch(std::string prefix, Revision after) override {
    return below_->watch(std::move(prefix), after);
  }
  Task<Status> compact(Revision revision) override { return below_->compact(revision); }
  Task<Result<LeaseId>> grant_lease(std::chrono::seconds ttl) override { return below_->grant_lease(ttl); }
  Task<Status> health(std::chrono::milliseconds timeout) override { return below_->health(timeout); }
  Task<Status> stop() override { return below_->stop(); }

 private:
  std::unique_ptr<StorageBackend> below_ = make_memory_storage();
};

}  // namespace backplane
