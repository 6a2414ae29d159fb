// The forms of objects in a store, and the way of one value in either direction.
//
// Writing: canonical JSON of the kind's stored version → the codec that the backend has chosen → transformers, in order.  In a form other
// than JSON a store is one that other servers may share: what stays JSON there ends with a newline, and kinds whose bytes are of another
// version are converted to it.  Reading: the transformers backwards, then whichever codec wrote the bytes: each says so by how it begins.
// An object of another version, or JSON of another writer (it ends with a newline), is brought into canonical form.
//
// Thread-safety: every method from any thread; use_scheme() before all others.
// Lifetime:      the types and strategies given to use_kind() outlive it.
// Errors:        read: 500 as upstream says it with and without AllowUnsafeMalformedObjectDeletion, naming the key; write: kInternalError.
#pragma once

#include <map>
#include <memory>
#include <shared_mutex>
#include <string>
#include <vector>

#include "backplane/points/storage.hpp"
#include "backplane/points/storage_transformer.hpp"
#include "backplane/rest/scheme.hpp"
#include "backplane/rest/strategy.hpp"
#include "engine/codec.hpp"
#include "storage/own_writes.hpp"

namespace backplane {

// What is kept below a key prefix.
struct StoredKind {
  GroupVersionKind kind;
  const Schema* schema = nullptr;      // null: custom resources, which are JSON in every store
  GroupVersionKind encoded_as;         // ResourceConfig::encoded_as
  bool json = false;                   // ResourceConfig::stored_as_json
  const Strategy* strategy = nullptr;  // of built-in kinds: its defaults are those that the schema cannot say; may be null
};

class StoredForms {
 public:
  using Transformers = std::vector<std::shared_ptr<const StorageTransformer>>;
  // `form`: how objects of built-in kinds are written: the name of a codec, or "yaml".
  StoredForms(std::string_view form, Transformers transformers);

  void use_scheme(std::shared_ptr<const Scheme> scheme) { scheme_ = std::move(scheme); }
  void use_kind(std::string_view prefix, StoredKind kind);
  // What cannot be read is told as a corrupt object, which may be removed unread (AllowUnsafeMalformedObjectDeletion).  Before the first
  // read.
  void tell_corrupt_objects() { corrupt_objects_ = true; }

  Status write(std::string_view key, SharedBytes& value) const;
  // What was written here a moment ago is known without being read.  One value that cannot be read hides no other: it says so itself.
  void read(KeyValue& item) const;
  void read(std::vector<KeyValue>& items) const;
  void read(std::vector<StorageEvent>& events) const;

 private:
  Status transform_back(std::string_view key, SharedBytes& value) const;
  Status decode(std::string_view key, SharedBytes& value) const;
  // Whether what is written is read back as it was, so that nobody has to.
  static bool is_kept(const StoredKind& kind) noexcept { return kind.schema != nullptr && kind.encoded_as.kind.empty(); }
  bool take_own(std::string_view key, SharedBytes& value) const;
  bool reads_as(std::string_view key, SharedBytes stored, std::string_view worked) const;
  Status read_json(const StoredKind* kind, SharedBytes& value) const;
  Status read_encoded(const Codec& codec, const StoredKind* kind, SharedBytes& value) const;
  Status read_yaml(const StoredKind& kind, SharedBytes& value) const;
  Result<std::string> encoded(const StoredKind& kind, std::string json) const;
  // The type of the version that the object says it is; `fallback` when it is not known.
  const Schema* schema_in(const Object& object, const Schema* fallback) const;
  // As it is written: in the form of `to`, whose type is `schema` (null: as the conversion leaves it).
  Result<std::string> encoded_as(std::string_view json, const GroupVersionKind& to, const Schema* schema) const;
  // As it is worked with: in the kind's own form, with today's defaults.
  Result<std::string> canonical(std::string_view json, const StoredKind& kind) const;
  Status convert(Object& object, const GroupVersionKind& to) const;
  // The kind with the longest prefix of `key`; null: no object has such a key.
  std::shared_ptr<const StoredKind> kind_of(std::string_view key) const;

  const Codec& written_;
  const bool writes_yaml_;
  const Transformers transformers_;
  std::shared_ptr<const Scheme> scheme_;
  bool corrupt_objects_ = false;
  mutable OwnWrites own_writes_;
  mutable std::shared_mutex mutex_;
  std::map<std::string, std::shared_ptr<const StoredKind>, std::less<>> kinds_;
};

}  // namespace backplane
