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

#include "storage/forwarding_storage.hpp"
#include "storage/stored_bytes.hpp"
#include "storage/stored_forms.hpp"
#include "storage/stored_pages.hpp"

namespace backplane {

class EncodedStorage final : public ForwardingStorage, public StoredPages, public StoredBytes {
 public:
  explicit EncodedStorage(StorageBackend& backend, StoredForms::Transformers transformers = {});
  ~EncodedStorage() override;

  // Conversions from versions that objects may have been written in.  Before anything is read or written.
  void use_scheme(std::shared_ptr<const Scheme> scheme);
  // What the objects are whose keys start with `prefix`.
  void use_kind(std::string_view prefix, StoredKind kind);
  // As StoredForms::tell_corrupt_objects.
  void tell_corrupt_objects() { forms_->tell_corrupt_objects(); }

  Task<Result<RangeResult>> range(RangeRequest request) override;
  Task<Result<RangeResult>> stored_range(RangeRequest request) override { return backend_.range(std::move(request)); }
  void read(std::vector<KeyValue>& items) const override { forms_->read(items); }
  Task<Result<Compared>> compare(std::string key, SharedBytes worked) override;
  Task<Result<TxnResult>> txn(TxnRequest request) override;
  Result<std::unique_ptr<StorageWatch>> watch(std::string prefix, Revision after) override;
  Result<std::unique_ptr<StorageWatch>> watch_changes(std::string prefix, Revision after) override;

 private:
  Result<std::unique_ptr<StorageWatch>> open(std::string prefix, Revision after, bool with_previous);

  const std::shared_ptr<StoredForms> forms_;
};

}  // namespace backplane
