// An ObjectStorage that encodes and transforms (encrypts) values when it writes them, and returns canonical JSON when it reads them
// (stored_values.hpp). It also reads values that were written in another encoding, by another server or with another encryption key; they
// are converted when they are written the next time.
//
// Thread-safety: every method from any thread.
// Lifetime:      borrows the backend. Uses the types and strategies of a StoredKind until the kind is replaced or forgotten.
// Errors:        the backend's.  If a value cannot be read, or is not an object although its key has a kind, KeyValue::unreadable has an
//                error (500) that names the key; the other values are returned.
#pragma once

#include <memory>
#include <string>

#include "storage/object_storage.hpp"
#include "storage/stored_values.hpp"

namespace backplane {

class EncodedStorage final : public ObjectStorage {
 public:
  // `transformers` may be null, and may change at any time.
  explicit EncodedStorage(StorageBackend& backend, std::shared_ptr<const PublishedTransformers> transformers = nullptr);
  ~EncodedStorage() override;

  // Sets the conversions from the versions in which objects may have been written. To be called before the first read or write, and again
  // at any time.
  void use_scheme(std::shared_ptr<const Scheme> scheme) { values_->forms().use_scheme(std::move(scheme)); }
  // Sets the kind of the objects whose keys begin with `prefix`.
  void use_kind(std::string_view prefix, StoredKind kind) { values_->forms().use_kind(prefix, std::move(kind)); }
  void forget_kind(std::string_view prefix) { values_->forms().forget_kind(prefix); }
  // See StoredValues::log_corrupt_objects().
  void log_corrupt_objects() { values_->log_corrupt_objects(); }

  // Sets how keys are shown in logs and errors.  To be called before the first read.
  void name_keys_by(BackendKeys keys) { values_->name_keys_by(std::move(keys)); }
  std::string backend_key(std::string_view key) const override { return values_->keys().of(key); }

  Task<Result<RangeResult>> range(RangeRequest request) override;
  Task<Result<RangeResult>> stored_range(RangeRequest request) override { return backend_.range(std::move(request)); }
  std::size_t read_now(std::vector<KeyValue>& items, std::size_t from) const override { return values_->read_now(items, from); }
  Task<void> read(KeyValue& item) const override { return values_->read(item); }
  Task<Result<Compared>> compare(std::string key, SharedBytes worked) override;
  Task<Result<TxnResult>> txn(TxnRequest request) override;
  Result<std::unique_ptr<StorageWatch>> watch(std::string prefix, Revision after) override;
  Task<std::size_t> read_some(std::vector<KeyValue>& items, std::size_t from) const override { return values_->read_some(items, from); }
  Result<std::unique_ptr<StorageWatch>> watch_changes(std::string prefix, Revision after) override;

 private:
  Result<std::unique_ptr<StorageWatch>> open(std::string prefix, Revision after, bool with_previous);

  const std::shared_ptr<StoredValues> values_;
};

}  // namespace backplane
