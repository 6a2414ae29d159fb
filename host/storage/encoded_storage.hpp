// Stands before a backend and turns what is stored into what everybody else works with: canonical JSON.
//
// Writing: JSON → the codec that the backend has chosen (built-in kinds; custom resources stay JSON) → transformers, in order → backend.
// Reading: the transformers backwards, then whichever codec wrote the bytes: each says so by how it begins.  So a store that was written in
// one form can be read in another, and changes over as its objects are written.
//
// Thread-safety: every method from any thread.
// Lifetime:      borrows the backend; the types given to use_schema() outlive it.
// Errors:        the backend's.  A value that no codec or transformer can read, or that begins like no object where objects are kept, is
//                KeyValue::unreadable: 500, naming the key; those beside it are read.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backplane/codec.hpp"
#include "backplane/storage.hpp"

namespace backplane {

class EncodedStorage final : public StorageBackend {
 public:
  using Transformers = std::vector<std::shared_ptr<const StorageTransformer>>;
  explicit EncodedStorage(StorageBackend& backend, Transformers transformers = {});
  ~EncodedStorage() override;

  // The type of the objects whose keys start with `prefix`; null: JSON in any case.
  void use_schema(std::string_view prefix, const Schema* schema);

  Task<Result<Revision>> current_revision() override { return backend_.current_revision(); }
  Revision committed_revision() const noexcept override { return backend_.committed_revision(); }
  bool progress_is_immediate() const noexcept override { return backend_.progress_is_immediate(); }
  Task<Status> request_progress() override { return backend_.request_progress(); }
  Task<Result<RangeResult>> range(RangeRequest request) override;
  Task<Result<TxnResult>> txn(TxnRequest request) override;
  Result<std::unique_ptr<StorageWatch>> watch(std::string prefix, Revision after) override;
  Task<Status> compact(Revision revision) override { return backend_.compact(revision); }
  Task<Result<LeaseId>> grant_lease(std::chrono::seconds ttl) override { return backend_.grant_lease(ttl); }
  Task<Status> health(std::chrono::milliseconds timeout) override { return backend_.health(timeout); }
  Task<Status> stop() override { return backend_.stop(); }
  std::int64_t size_bytes() const noexcept override { return backend_.size_bytes(); }
  std::string_view stored_form() const noexcept override { return backend_.stored_form(); }

  class Forms;

 private:
  StorageBackend& backend_;
  const std::shared_ptr<Forms> forms_;
};

}  // namespace backplane
