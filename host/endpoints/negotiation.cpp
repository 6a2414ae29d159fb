#include "endpoints/negotiation.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "endpoints/accept.hpp"
#include "endpoints/errors.hpp"
#include "endpoints/header_tokens.hpp"
#include "endpoints/verb_options.hpp"

namespace backplane::endpoints {
namespace {

struct ShapeRow {
  std::string_view kind;
  Shape shape;
};
constexpr std::array<ShapeRow, 3> kShapes = {{
    {"Table", Shape::kTable},
    {"PartialObjectMetadata", Shape::kMetadata},
    {"PartialObjectMetadataList", Shape::kMetadataList},
}};

// Sets the shape from the parameters `as`, `g` and `v`. Returns false if they do not name a supported shape.
bool take_shape(std::string_view kind, std::string_view group, std::string_view version, MediaType& media) {
  if (group != "meta.k8s.io" || (version != "v1" && version != "v1beta1")) return false;
  for (const ShapeRow& row : kShapes) {
    if (row.kind != kind) continue;
    media.shape = row.shape;
    media.beta = version == "v1beta1";
    return true;
  }
  return false;
}

// Tables can be written as text only. For objects, the codec decides.
bool writes(const MediaType& media, const Offers& offers) {
  return media.shape == Shape::kTable ? media.codec->is_text() : media.codec->can_write(media.presentation(offers.schema));
}

std::optional<MediaType> accept_clause(const AcceptClause& clause, MediaType media, const Offers& offers) {
  std::string_view kind, group, version;
  bool converts = false;
  for (const auto& [name, value] : clause.parameters) {
    if (name == "as") {
      kind = value;
      converts = true;
    } else if (name == "g") {
      group = value;
      converts = true;
    } else if (name == "v") {
      version = value;
      converts = true;
    } else if (name == "pretty") {
      media.pretty = value == "1";
    } else if (name == "sv" && !value.empty()) {
      if (!offers.shapes || value != "v1") return std::nullopt;
    } else if (name == "stream" && !value.empty()) {
      if (media.yaml || value != "watch") return std::nullopt;
    }
  }
  if (converts && (!offers.shapes || !take_shape(kind, group, version, media))) return std::nullopt;
  if (media.shape == Shape::kTable && !offers.tables) return std::nullopt;
  return writes(media, offers) ? std::optional<MediaType>(media) : std::nullopt;
}

bool fits(const AcceptClause& clause, std::string_view media_type) noexcept {
  if (clause.type == "*" && clause.subtype == "*") return true;
  return clause.type == "application" && (clause.subtype == "*" || clause.subtype == media_type.substr(media_type.find('/') + 1));
}

// Tries JSON, YAML and the other codecs. A wildcard selects the first that is acceptable.
std::optional<MediaType> match_clause(const AcceptClause& clause, const Offers& offers) {
  for (const Codec* codec : codecs(offers.cbor)) {
    for (const bool yaml : {false, true}) {
      MediaType media;
      media.codec = codec;
      media.yaml = yaml;
      if ((yaml && codec != &json_codec()) || !fits(clause, media.content_type())) continue;
      if (auto accepted = accept_clause(clause, media, offers)) return accepted;
    }
  }
  return std::nullopt;
}

std::optional<MediaType> match(std::string_view accept, const Offers& offers) {
  for (const AcceptClause& clause : parse_accept(accept)) {
    if (auto media = match_clause(clause, offers)) return media;
  }
  return std::nullopt;
}

bool is_plain_json(std::string_view accept) noexcept { return accept.empty() || accept == "application/json" || accept == "*/*"; }

// A shortcut for the headers of nearly all clients. If no clause has a parameter and the first clause is the type of a codec, the result is
// this codec.
const Codec* named_first(std::string_view accept, const Offers& offers) noexcept {
  if (accept.find(';') != std::string_view::npos) return nullptr;
  const std::string_view first = trim(take(accept, ','));
  for (const Codec* codec : codecs(offers.cbor)) {
    if (codec->media_type() == first && codec->can_write({offers.schema, false, false})) return codec;
  }
  return nullptr;
}

// Like strconv.ParseBool; invalid text counts as false.
bool parse_bool(std::string_view text) noexcept {
  return text == "1" || text == "t" || text == "T" || text == "true" || text == "TRUE" || text == "True";
}

bool in_list(std::string_view list, std::string_view type) noexcept {
  while (!list.empty()) {
    if (trim(take(list, ',')) == type) return true;
  }
  return false;
}

Status refuse_accept(const Exchange& exchange, std::string_view types) {
  const std::string_view method = exchange.method();
  const std::string_view length = exchange.header("content-length");
  const bool has_body_verb = method == "POST" || method == "PUT" || method == "PATCH";
  if (has_body_verb && (length.empty() || length == "0")) return route_unsupported(types);
  return route_not_acceptable(types);
}

}  // namespace

bool wants_pretty(const Query& query, const Exchange& exchange) {
  const std::string_view value = query_get(query, "pretty");
  if (!value.empty()) return parse_bool(value);
  const std::string_view agent = exchange.header("user-agent");
  return agent.starts_with("curl") || agent.starts_with("Wget") || agent.starts_with("Mozilla/5.0");
}

Result<MediaType> negotiate(const RequestContext& context, const Exchange& exchange, Offers offers) {
  offers.cbor = context.offers_cbor;
  const std::string_view accept = exchange.header("accept");
  MediaType media;
  if (const Codec* named = named_first(accept, offers)) {
    media.codec = named;
  } else if (!is_plain_json(accept)) {
    auto found = match(accept, offers);
    if (!found) return not_acceptable_types(served_types(offers.cbor));
    media = *found;
  }
  media.pretty = media.pretty || wants_pretty(context.info.query, exchange);
  return media;
}

Status check_route_accept(const RequestContext& context, const Exchange& exchange, bool streams, const std::vector<std::string>& more) {
  const std::string_view served = served_types(context.offers_cbor), streamed = stream_types(context.offers_cbor);
  const std::string_view accept = exchange.header("accept");
  if (is_plain_json(accept)) return {};
  std::string_view rest = accept;
  while (!rest.empty()) {
    std::string_view part = take(rest, ',');
    const std::string_view type = trim(take(part, ';'));
    if (type == "*/*" || in_list(served, type) || (streams && in_list(streamed, type))) return {};
    if (std::find(more.begin(), more.end(), type) != more.end()) return {};
  }
  std::string types;
  for (const std::string& type : more) types.append(type).append(", ");
  types.append(served);
  if (streams) types.append(", ").append(streamed);
  return refuse_accept(exchange, types);
}

Status check_accept_of(const Exchange& exchange, std::string_view types) {
  std::string_view rest = exchange.header("accept");
  if (is_plain_json(rest)) return {};
  while (!rest.empty()) {
    std::string_view part = take(rest, ',');
    const std::string_view type = trim(take(part, ';'));
    if (type == "*/*" || in_list(types, type)) return {};
  }
  return refuse_accept(exchange, types);
}

std::string_view bare_content_type(const Exchange& exchange) noexcept {
  const std::string_view header = exchange.header("content-type");
  const auto semicolon = header.find(';');
  return semicolon == std::string_view::npos || semicolon == 0 ? header : header.substr(0, semicolon);
}

Result<BodyFormat> negotiate_input(const RequestContext& context, const Exchange& exchange) {
  const std::string_view given = trim(bare_content_type(exchange));
  if (given.empty() || given == "application/json") return BodyFormat::kJson;
  std::string lower(given);
  for (char& letter : lower) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  if (lower == "application/json") return BodyFormat::kJson;
  if (lower == "application/yaml") return BodyFormat::kYaml;
  if (lower == "application/vnd.kubernetes.protobuf") return BodyFormat::kProtobuf;
  if (lower == "application/cbor" && context.offers_cbor) return BodyFormat::kCbor;
  return unsupported_media_type(served_types(context.offers_cbor));
}

}  // namespace backplane::endpoints
