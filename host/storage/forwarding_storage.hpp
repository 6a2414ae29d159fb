// A base class for wrappers of a backend: forwards all calls to the backend. A wrapper overrides the functions that it changes.
//
// Thread-safety, errors: the backend's.
// Lifetime:              borrows the backend.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "backplane/points/storage.hpp"

namespace backplane {

class ForwardingStorage : public StorageBackend {
 public:
  explicit ForwardingStorage(StorageBackend& backend) : backend_(backend) {}

  Task<Result<Revision>> current_revision() override { return backend_.current_revision(); }
  Revision committed_revision() const noexcept override { return backend_.committed_revision(); }
  bool progress_is_immediate() const noexcept override { return backend_.progress_is_immediate(); }
  Task<Status> request_progress() override { return backend_.request_progress(); }
  Task<Result<RangeResult>> range(RangeRequest request) override { return backend_.range(std::move(request)); }
  Task<Result<TxnResult>> txn(TxnRequest request) override { return backend_.txn(std::move(request)); }
  Result<std::unique_ptr<StorageWatch>> watch(std::string prefix, Revision after) override {
    return backend_.watch(std::move(prefix), after);
  }
  Task<Status> compact(Revision revision) override { return backend_.compact(revision); }
  Task<Result<LeaseId>> grant_lease(std::chrono::seconds ttl) override { return backend_.grant_lease(ttl); }
  Task<Status> health(std::chrono::milliseconds timeout) override { return backend_.health(timeout); }
  Task<Status> stop() override { return backend_.stop(); }
  std::int64_t size_bytes() const noexcept override { return backend_.size_bytes(); }
  std::string_view stored_form() const noexcept override { return backend_.stored_form(); }

 protected:
  StorageBackend& backend_;
};

}  // namespace backplane
