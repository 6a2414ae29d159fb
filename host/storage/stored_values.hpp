// The values of a store in both directions: canonical JSON → encoding (stored_forms.hpp) → the transformer of the resource, and back.
//
// A value goes through the transformer that was in use when its read or write began. Transformers that return at once cost no wait. If a
// value of several must wait, the values that follow it wait at the same time, up to kReadAtOnce of them.
//
// Thread-safety: every method from any thread.
// Lifetime:      borrows nothing but the types and strategies of the forms' kinds.
// Errors:        read: KeyValue::unreadable, 500 with upstream's message with and without AllowUnsafeMalformedObjectDeletion, naming the
// key;
//                write: kInternalError, naming the key.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "storage/backend_key.hpp"
#include "storage/own_writes.hpp"
#include "storage/published_transformers.hpp"
#include "storage/stored_forms.hpp"
#include "storage/transformed.hpp"

namespace backplane {

class StoredValues {
 public:
  static constexpr std::size_t kReadAtOnce = 64;

  // `transformers` may be null.
  StoredValues(std::string_view form, std::shared_ptr<const PublishedTransformers> transformers)
      : forms_(form), transformers_(std::move(transformers)) {}

  StoredForms& forms() noexcept { return forms_; }
  // Unreadable objects are reported as corrupt, and can be deleted (AllowUnsafeMalformedObjectDeletion). Before the first read.
  void tell_corrupt_objects() { corrupt_objects_ = true; }

  // The keys in errors.  Before the first read.
  void name_keys_by(BackendKeys keys) { keys_ = std::move(keys); }
  const BackendKeys& keys() const noexcept { return keys_; }

  Task<Status> write(std::vector<Put>& puts) const;
  // As ObjectStorage.
  std::size_t read_now(std::vector<KeyValue>& items, std::size_t from) const;
  Task<void> read(KeyValue& item) const;
  Task<void> read(std::vector<KeyValue>& items) const;
  Task<std::size_t> read_some(std::vector<KeyValue>& items, std::size_t from) const;
  // A value that this object has just written is neither decrypted nor decoded.
  Task<void> read(std::vector<StorageEvent>& events) const;
  // Reads `item`; whether a write of `worked` under its key would store the same encoding with the same transformation.
  Task<bool> read_and_compare(KeyValue& item, SharedBytes worked) const;

 private:
  // The kind and the transformer of a key.
  struct Place {
    std::shared_ptr<const StoredKind> kind;  // null: no object has such a key
    TransformerRef transformer;              // null: none
  };
  class Places;

  Task<Status> write(Place place, Put& put) const;
  bool check_reads_back(const StoredKind* kind, SharedBytes encoded, std::string_view worked) const;
  void note_own(const Place& place, const Put& stored, const SharedBytes& worked) const;
  // Decodes what the transformer has returned into the item.
  void finish(const Place& place, KeyValue& item, Result<StorageTransformer::Plain> plain) const;
  Task<void> read(Place place, KeyValue& item) const;
  Task<void> read_previous(Place place, StorageEvent& event) const;

  StoredForms forms_;
  const std::shared_ptr<const PublishedTransformers> transformers_;
  bool corrupt_objects_ = false;
  BackendKeys keys_;
  mutable OwnWrites own_writes_;
};

}  // namespace backplane
