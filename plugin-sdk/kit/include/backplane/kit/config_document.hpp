// Strict decoding of versioned configuration files (AuthenticationConfiguration, EncryptionConfiguration …), in YAML or JSON.
//
//   kit::ConfigDecoder decoder("AuthenticationConfiguration", {"v1", "v1beta1"}, authentication_configuration_json());
//   auto config = decoder.decode(text);  // strict decoding error: unknown field "jwt[0].issuers"
//
// Thread-safety: a decoder is immutable.
// Lifetime:      the decoder owns its schemas; a decoded document is independent of it.
// Errors:        kBadRequest with the text of upstream's decoder, without the name of the file.
// Source:        k8s.io/apimachinery/pkg/runtime/serializer/json, k8s.io/apiserver/pkg/apis/apiserver.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/core/status.hpp"
#include "backplane/core/visibility.hpp"
#include "backplane/types/schema.hpp"

namespace backplane BACKPLANE_API {
namespace kit BACKPLANE_API {

struct ConfigDocument {
  GroupVersionKind kind;
  // Normalized: only known fields, which have the types of the schema; defaults are set. apiVersion and kind are those of the file.
  Object object;
  // Unknown and duplicate fields; only decode_lenient() returns documents with problems.
  std::string problems;
};

class ConfigDecoder {
 public:
  // `schema`: a schema document (docs/schema-words.md) that defines the kind. "$version" in it is replaced by each of `versions`, so that
  // one document defines several versions with the same fields. `secret`: errors do not quote the file. `into`: the kind of a document
  // without a kind or a version, as upstream's decoder takes them from the type that it decodes into; empty: that is an error. A
  // document of this kind is returned without its members if no schema has the kind.
  // Throws std::invalid_argument for a schema that does not compile: an error of the plugin.
  ConfigDecoder(std::string kind, const std::vector<std::string>& versions, std::string_view schema, bool secret = false,
                GroupVersionKind into = {});

  // Errors: text that is not YAML; a missing or wrong apiVersion or kind; a field of the wrong type; unknown and duplicate fields.
  Result<ConfigDocument> decode(std::string_view text) const;
  // The same, but unknown and duplicate fields are ignored and reported in the result.
  Result<ConfigDocument> decode_lenient(std::string_view text) const;

 private:
  const Schema* find(const GroupVersionKind& kind) const noexcept;
  Status unknown_kind(const GroupVersionKind& kind) const;
  Status missing(std::string_view field, std::string_view text) const;

  const std::string kind_;
  const bool secret_;
  const GroupVersionKind into_;
  std::vector<std::shared_ptr<const SchemaSet>> sets_;
};

}  // namespace BACKPLANE_API
}  // namespace BACKPLANE_API
