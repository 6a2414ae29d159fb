// Stands before a backend and turns what is stored into what everybody else works with: canonical JSON.
// stored_forms.hpp has the ways there and back.  A store that was written in one form, or by another server, can be read in another form,
// and changes over as its objects are written.
//
// Thread-safety: every method from any thread.
// Lifetime:      borrows the backend; the types given to use_kind() outlive it.
// Errors:        the backend's.  A value that cannot be read, or that begins like no object where objects are kept, is
//                KeyValue::unreadable: 500, naming the key; those beside it are read.
#pragma once

#include <memory>
#include <string>

#include "backplane/storage.hpp"
#include "storage/stored_forms.hpp"

namespace backplane {

class EncodedStorage final : public StorageBackend {
 public:
  explicit EncodedStorage(StorageBackend& backend, StoredForms::Transformers transformers = {});
  ~EncodedStorage() override;

  // Conversions from versions that objects may have been written in.  Before anything is read or written.
  void use_scheme(std::shared_ptr<const Scheme> scheme);
  // What the objects are whose keys start with `prefix`.
  void use_kind(std::string_view prefix, StoredKind kind);
  // As StoredForms::tell_corrupt_objects.
  void tell_corrupt_objects() { forms_->tell_corrupt_objects(); }

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

 private:
  StorageBackend& backend_;
  const std::shared_ptr<StoredForms> forms_;
};

}  // namespace backplane
