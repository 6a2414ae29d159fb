// Content negotiation: the Accept header with its qualities and parameters, the Content-Type header, and the detection of clients that get
// indented JSON.
//
// Thread-safety: pure functions of the request's headers.
// Errors:        406 and 415 with upstream's lists of media types.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/request.hpp"
#include "backplane/core/status.hpp"
#include "backplane/points/http.hpp"
#include "engine/codec.hpp"

namespace backplane::endpoints {

// The representation of the object that the client requests by the parameter `as`.
enum class Shape : unsigned char { kObject, kTable, kMetadata, kMetadataList };

struct MediaType {
  const Codec* codec = &json_codec();
  bool yaml = false;  // the JSON of `codec` is converted to YAML when it is sent
  Shape shape = Shape::kObject;
  bool beta = false;    // meta.k8s.io/v1beta1 instead of v1
  bool pretty = false;  // JSON is indented

  std::string_view content_type() const noexcept { return yaml ? "application/yaml" : codec->media_type(); }
  std::string_view meta_version() const noexcept { return beta ? "meta.k8s.io/v1beta1" : "meta.k8s.io/v1"; }
  // True if the response is indented JSON.
  bool indented() const noexcept { return pretty && !yaml && codec->is_text(); }
  // Returns how a codec must write objects of type `schema`.
  Presentation presentation(const Schema* schema) const noexcept {
    return {schema, shape == Shape::kMetadata || shape == Shape::kMetadataList, beta};
  }
};

// The representations that a response may have.
struct Offers {
  bool shapes = false;             // the client may request a table or metadata only
  const Schema* schema = nullptr;  // the type of the objects; codecs that cannot write it are skipped; null: only JSON and YAML
  bool tables = true;              // `shapes` includes tables
  bool cbor = false;               // CBOR is offered; negotiate() sets it from the context
};

// Selects the media type of the response: the first clause of Accept that is acceptable, in the order of quality. Without an Accept header,
// the result is JSON.
Result<MediaType> negotiate(const RequestContext& context, const Exchange& exchange, Offers offers);

// Checks the Accept header like upstream's router of built-in groups, before the handler: the client must accept a type that the path can
// produce. `streams`: the path supports lists and watches. `more`: additional types of the path, which precede the other types in errors.
Status check_route_accept(const RequestContext& context, const Exchange& exchange, bool streams, const std::vector<std::string>& more = {});
// The same check for a route that produces `types`. The list must contain "application/json".
Status check_accept_of(const Exchange& exchange, std::string_view types);

enum class BodyFormat : unsigned char { kJson, kYaml, kProtobuf, kCbor };
// Returns the format of a body from its Content-Type. Without a Content-Type, the result is JSON.
Result<BodyFormat> negotiate_input(const RequestContext& context, const Exchange& exchange);

// Returns the Content-Type up to its first parameter, as it was sent.
std::string_view bare_content_type(const Exchange& exchange) noexcept;

// Returns true if JSON is to be indented: because of ?pretty=…, or because the user agent is curl, Wget or a browser.
bool wants_pretty(const Query& query, const Exchange& exchange);

}  // namespace backplane::endpoints
