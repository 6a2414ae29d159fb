// Content negotiation: Accept clauses with quality and parameters, Content-Type, and the clients that get indented JSON.
//
// Thread-safety: pure functions of the exchange's headers.
// Errors:        406 and 415 with the lists upstream prints.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/request.hpp"
#include "backplane/core/status.hpp"
#include "backplane/points/http.hpp"
#include "engine/codec.hpp"

namespace backplane::endpoints {

// The representation of the object that the client requests (the `as` parameter).
enum class Shape : unsigned char { kObject, kTable, kMetadata, kMetadataList };

struct MediaType {
  const Codec* codec = &json_codec();
  bool yaml = false;  // JSON that is converted to YAML when it is sent
  Shape shape = Shape::kObject;
  bool beta = false;    // meta.k8s.io/v1beta1 instead of v1
  bool pretty = false;  // texts of JSON only

  std::string_view content_type() const noexcept { return yaml ? "application/yaml" : codec->media_type(); }
  std::string_view meta_version() const noexcept { return beta ? "meta.k8s.io/v1beta1" : "meta.k8s.io/v1"; }
  // The response is indented JSON.
  bool indented() const noexcept { return pretty && !yaml && codec->is_text(); }
  // The presentation of objects of type `schema` for a codec.
  Presentation presentation(const Schema* schema) const noexcept {
    return {schema, shape == Shape::kMetadata || shape == Shape::kMetadataList, beta};
  }
};

// The representations that a response may have.
struct Offers {
  bool shapes = false;             // tables and metadata-only forms
  const Schema* schema = nullptr;  // of the objects: codecs that cannot write them are skipped; null: JSON and YAML only
  bool tables = true;              // whether `shapes` includes tables
  bool cbor = false;               // set by negotiate() from the request
};

// The first acceptable clause of Accept, best quality first; no Accept is JSON.
Result<MediaType> negotiate(const RequestContext& context, const Exchange& exchange, Offers offers);

// The check of Accept by the router of the built-in groups, before the handler: does the client accept a type that the path produces?
// `streams`: the path lists or watches. `more`: additional types of the path; they come first.
Status check_route_accept(const RequestContext& context, const Exchange& exchange, bool streams, const std::vector<std::string>& more = {});
// The same for a route that produces `types`, which include "application/json".
Status check_accept_of(const Exchange& exchange, std::string_view types);

enum class BodyFormat : unsigned char { kJson, kYaml, kProtobuf, kCbor };
// Content-Type of an object body; none is JSON.
Result<BodyFormat> negotiate_input(const RequestContext& context, const Exchange& exchange);

// Content-Type up to its first parameter, as sent.
std::string_view bare_content_type(const Exchange& exchange) noexcept;

// Whether the response is indented: ?pretty=…, or a client whose users read responses.
bool wants_pretty(const Query& query, const Exchange& exchange);

}  // namespace backplane::endpoints
