// Content negotiation: Accept clauses with quality and parameters, Content-Type, and who wants indented JSON.
//
// Thread-safety: pure functions of the exchange's headers.
// Errors:        406 and 415 with the lists upstream prints.
#pragma once

#include <string_view>

#include "backplane/http.hpp"
#include "backplane/status.hpp"

namespace backplane::endpoints {

enum class Encoding : unsigned char { kJson, kYaml };
// What the client wants made out of the object (the `as` parameter).
enum class Shape : unsigned char { kObject, kTable, kMetadata, kMetadataList };

struct MediaType {
  Encoding encoding = Encoding::kJson;
  Shape shape = Shape::kObject;
  bool beta = false;    // meta.k8s.io/v1beta1 instead of v1
  bool pretty = false;  // JSON only

  std::string_view content_type() const noexcept { return encoding == Encoding::kYaml ? "application/yaml" : "application/json"; }
  std::string_view meta_version() const noexcept { return beta ? "meta.k8s.io/v1beta1" : "meta.k8s.io/v1"; }
};

// The first acceptable clause of Accept, best quality first; no Accept is JSON.  `shapes`: tables and metadata-only forms are offered.
Result<MediaType> negotiate(const Exchange& exchange, bool shapes);

// What the router of the built-in groups checks before a handler sees the request: may one of the types that the path produces do?
// `streams`: the path lists or watches.
Status check_route_accept(const Exchange& exchange, bool streams);

enum class BodyFormat : unsigned char { kJson, kYaml, kProtobuf };
// Content-Type of an object body; none is JSON.
Result<BodyFormat> negotiate_input(const Exchange& exchange);

// Content-Type up to its first parameter, as sent.
std::string_view bare_content_type(const Exchange& exchange) noexcept;

// ?pretty=…, or a client that shows answers to people.
bool wants_pretty(const Exchange& exchange);

}  // namespace backplane::endpoints
