// The encodings of objects in a store.
//
// encode(): canonical JSON of the kind's stored version → the codec that the backend has chosen.  A store in another encoding than JSON may
// be shared with other servers: JSON in it ends with a newline, and a kind that other servers store in another version is converted to that
// version. decode(): with the codec that the first bytes identify. An object of another version, or JSON of another writer (it ends with a
// newline), is brought into canonical form.
//
// Thread-safety: every method from any thread; use_scheme() before the first read and write, and again at any time.
// Lifetime:      StoredKind::hold keeps the type and the strategy of a kind.
// Errors:        kInternalError without the key.
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

// The kind of the objects below a key prefix.
struct StoredKind {
  GroupVersionKind kind;
  const Schema* schema = nullptr;      // null: custom resources, which are JSON in every store
  GroupVersionKind encoded_as;         // ResourceConfig::encoded_as
  bool json = false;                   // ResourceConfig::stored_as_json
  const Strategy* strategy = nullptr;  // of built-in kinds: has the defaults that the schema cannot express; may be null
  GroupResource resource = {};         // selects the transformer
  Hold hold = {};                      // of the plugin that the type and the strategy belong to
};

class StoredForms {
 public:
  // `form`: the encoding of built-in kinds: the name of a codec, or "yaml".
  explicit StoredForms(std::string_view form);

  void use_scheme(std::shared_ptr<const Scheme> scheme) { scheme_.set(std::move(scheme)); }
  void use_kind(std::string_view prefix, StoredKind kind);
  // The values below `prefix` have no kind any more: they are read and written unchanged.
  void forget_kind(std::string_view prefix);
  // The kind with the longest prefix of `key`; null: no object has such a key.
  std::shared_ptr<const StoredKind> kind_of(std::string_view key) const;

  // Refuses objects that etcd would refuse, for embedded stores.
  Status check_size(const StoredKind* kind, std::string_view key, const SharedBytes& worked) const;
  // `kind`: null for keys that are not objects.
  Result<SharedBytes> encode(const StoredKind* kind, const SharedBytes& worked) const;
  Status decode(const StoredKind* kind, SharedBytes& value) const;
  // True if decode() of encode() of `worked` returns `worked`.
  bool reads_back(const StoredKind& kind, std::string_view worked) const noexcept;

 private:
  bool writes_json() const noexcept { return !writes_yaml_ && &written_ == &json_codec(); }
  Status read_json(const StoredKind* kind, SharedBytes& value) const;
  Status read_encoded(const Codec& codec, const StoredKind* kind, SharedBytes& value) const;
  Status read_yaml(const StoredKind& kind, SharedBytes& value) const;
  Result<std::string> encoded(const StoredKind& kind, std::string json) const;
  // The type of the object's version; `fallback` when it is not known.
  const Schema* schema_in(const Object& object, const Schema* fallback) const;
  // The object for the store: in version `to`, whose type is `schema` (null: the result of the conversion).
  Result<std::string> encoded_as(std::string_view json, const GroupVersionKind& to, const Schema* schema) const;
  // The object for use: in the kind's version, with current defaults.
  Result<std::string> canonical(std::string_view json, const StoredKind& kind) const;
  Status convert(Object& object, const GroupVersionKind& to) const;

  const Codec& written_;
  const bool writes_yaml_;
  kit::Published<Scheme> scheme_{nullptr};
  mutable std::shared_mutex mutex_;
  std::map<std::string, std::shared_ptr<const StoredKind>, std::less<>> kinds_;
};

}  // namespace backplane
