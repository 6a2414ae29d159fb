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
  // The normalized document: it contains only known fields with the types of the schema, and defaults are set. apiVersion and kind are
  // those of the file.
  Object object;
  // Errors about unknown and duplicate fields. Only decode_lenient() returns documents with such errors.
  std::string problems;
};

class ConfigDecoder {
 public:
  // `schema`: a schema document (docs/schema-words.md) that defines the kind. "$version" in it is replaced by each of `versions`, so that
  // one document defines several versions with the same fields.
  // `secret`: errors do not quote the file.
  // `into`: the kind that a document without kind or apiVersion has, as upstream's decoder uses the type into which it decodes; empty: such
  // a document is an error. If a document is of the kind `into` and no schema has this kind, it is returned without its members.
  // Throws std::invalid_argument if the schema does not compile, which is an error of the plugin.
  ConfigDecoder(std::string kind, const std::vector<std::string>& versions, std::string_view schema, bool secret = false,
                GroupVersionKind into = {});

  // Errors: text that is not YAML; a missing or wrong apiVersion or kind; a field of the wrong type; unknown and duplicate fields.
  Result<ConfigDocument> decode(std::string_view text) const;
  // Like decode(), but ignores unknown and duplicate fields and reports them in ConfigDocument::problems.
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
