// Encodes objects for a store, and decodes stored objects.
//
// encode() converts canonical JSON of the kind's stored version to the encoding that the backend has chosen (protobuf, JSON, YAML).  A
// store whose encoding is not JSON may be shared with other servers (kube-apiserver): in such a store, JSON ends with a newline, and a kind
// that other servers store in another version is converted to that version (ResourceConfig::encoded_as). decode() uses the codec that the
// first bytes identify. An object in another version, and JSON of another writer (which ends with a newline), are converted to canonical
// JSON of the kind's version.
//
// Thread-safety: every method from any thread; use_scheme() before the first read and write, and again at any time.
// Lifetime:      StoredKind::hold keeps the type and the strategy of a kind.
// Errors:        kInternalError; the message does not contain the key.
#pragma once

#include <map>
#include <memory>
#include <shared_mutex>
#include <string>

#include "backplane/kit/published.hpp"
#include "backplane/points/storage.hpp"
#include "backplane/rest/scheme.hpp"
#include "backplane/rest/strategy.hpp"
#include "base/hold.hpp"
#include "engine/codec.hpp"

namespace backplane {

// The kind of the objects under a key prefix.
struct StoredKind {
  GroupVersionKind kind;
  const Schema* schema = nullptr;      // null: custom resources, which are stored as JSON in every store
  GroupVersionKind encoded_as;         // ResourceConfig::encoded_as
  bool json = false;                   // ResourceConfig::stored_as_json
  const Strategy* strategy = nullptr;  // for built-in kinds: sets the defaults that the schema does not contain; may be null
  GroupResource resource = {};         // selects the transformer
  Hold hold = {};                      // keeps the plugin loaded to which the schema and the strategy belong
};

class StoredForms {
 public:
  // `form`: the encoding of built-in kinds; the name of a codec, or "yaml".
  explicit StoredForms(std::string_view form);

  void use_scheme(std::shared_ptr<const Scheme> scheme) { scheme_.set(std::move(scheme)); }
  void use_kind(std::string_view prefix, StoredKind kind);
  // Removes the kind of `prefix`: values under it are read and written unchanged from now on.
  void forget_kind(std::string_view prefix);
  // The kind of the longest prefix that `key` has; null: the value of `key` is not an object.
  std::shared_ptr<const StoredKind> kind_of(std::string_view key) const;

  // For stores that use JSON (embedded stores): refuses objects that are too large for etcd.
  Status check_size(const StoredKind* kind, std::string_view key, const SharedBytes& worked) const;
  // `kind`: null for keys that are not objects.
  Result<SharedBytes> encode(const StoredKind* kind, const SharedBytes& worked) const;
  Status decode(const StoredKind* kind, SharedBytes& value) const;
  // True if encode() and then decode() return exactly `worked`.
  bool reads_back(const StoredKind& kind, std::string_view worked) const noexcept;

 private:
  bool writes_json() const noexcept { return !writes_yaml_ && &written_ == &json_codec(); }
  Status read_json(const StoredKind* kind, SharedBytes& value) const;
  Status read_encoded(const Codec& codec, const StoredKind* kind, SharedBytes& value) const;
  Status read_yaml(const StoredKind& kind, SharedBytes& value) const;
  Result<std::string> encoded(const StoredKind& kind, std::string json) const;
  // The schema of the object's version; `fallback` if it is unknown.
  const Schema* schema_in(const Object& object, const Schema* fallback) const;
  // Converts the object to the version `to`, for the store. `schema`: the schema of `to`, which normalizes the result; null: not
  // normalized.
  Result<std::string> encoded_as(std::string_view json, const GroupVersionKind& to, const Schema* schema) const;
  // Converts a stored object to the kind's version, and sets the current defaults.
  Result<std::string> canonical(std::string_view json, const StoredKind& kind) const;
  Status convert(Object& object, const GroupVersionKind& to) const;

  const Codec& written_;
  const bool writes_yaml_;
  kit::Published<Scheme> scheme_{nullptr};
  mutable std::shared_mutex mutex_;
  std::map<std::string, std::shared_ptr<const StoredKind>, std::less<>> kinds_;
};

}  // namespace backplane
