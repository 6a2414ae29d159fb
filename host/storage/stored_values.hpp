// Converts values between canonical JSON and the stored bytes. A write encodes the JSON (stored_forms.hpp) and then calls the transformer
// of the resource (encryption); a read does the reverse.
//
// An operation uses the transformers that were in use when it began. If a transformer returns a result immediately, the operation does not
// wait. If one of several values must wait, up to kReadAtOnce values are transformed concurrently.
//
// Thread-safety: every method from any thread.
// Lifetime:      StoredKind::hold keeps the types and strategies alive.
// Errors:        read: sets KeyValue::unreadable to an error (500) that names the key, with upstream's message, which depends on the
//                feature gate AllowUnsafeMalformedObjectDeletion.
//                write: kInternalError, which names the key.
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
  // Makes errors report unreadable objects as corrupt, as upstream with AllowUnsafeMalformedObjectDeletion. To be called before the first
  // read.
  void log_corrupt_objects() { corrupt_objects_ = true; }

  // Sets how keys are shown in errors.  To be called before the first read.
  void name_keys_by(BackendKeys keys) { keys_ = std::move(keys); }
  const BackendKeys& keys() const noexcept { return keys_; }

  Task<Status> write(std::vector<Put>& puts) const;
  // As the functions of ObjectStorage with the same names.
  std::size_t read_now(std::vector<KeyValue>& items, std::size_t from) const;
  Task<void> read(KeyValue& item) const;
  Task<void> read(std::vector<KeyValue>& items) const;
  Task<std::size_t> read_some(std::vector<KeyValue>& items, std::size_t from) const;
  // Reads the values of events. A value that this object has written recently is taken from OwnWrites: it is neither decrypted nor decoded.
  Task<void> read(std::vector<StorageEvent>& events) const;
  // Reads `item`. True: a write of `worked` under its key would store the same encoding with the same transformation.
  Task<bool> read_and_compare(KeyValue& item, SharedBytes worked) const;

 private:
  // The kind and the transformer of a key.
  struct Place {
    std::shared_ptr<const StoredKind> kind;  // null: the value of the key is not an object
    TransformerRef transformer;              // null: none
  };
  class Places;

  Task<Status> write(Place place, Put& put) const;
  bool check_reads_back(const StoredKind* kind, SharedBytes encoded, std::string_view worked) const;
  void note_written(const Place& place, const Put& stored, const SharedBytes& worked) const;
  // Decodes `plain`, the result of the transformer, into item.value; sets item.unreadable if it fails.
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
