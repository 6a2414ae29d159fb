#include "endpoints/negotiation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "endpoints/errors.hpp"
#include "endpoints/verb_options.hpp"

namespace backplane::endpoints {
namespace {

std::string_view trim(std::string_view text) noexcept {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// Takes the text up to `separator` off the front of `rest`.
std::string_view take(std::string_view& rest, char separator) noexcept {
  const auto end = rest.find(separator);
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return part;
}

struct Clause {
  std::string_view type;
  std::string_view subtype;
  double quality = 1.0;
  std::vector<std::pair<std::string_view, std::string_view>> parameters;
};

// One clause; nothing when it is malformed and to be passed over.
std::optional<Clause> parse_clause(std::string_view part) {
  std::string_view rest = trim(part);
  std::string_view media = take(rest, ';');
  Clause clause;
  clause.type = trim(take(media, '/'));
  if (media.empty()) {
    if (clause.type != "*") return std::nullopt;
    clause.subtype = "*";
  } else {
    clause.subtype = trim(take(media, '/'));
    if (!media.empty()) return std::nullopt;
  }
  while (!rest.empty()) {
    std::string_view value = take(rest, ';');
    const std::string_view name = trim(take(value, '='));
    if (value.empty() || value.find('=') != std::string_view::npos) continue;
    if (name == "q") {
      clause.quality = std::strtod(std::string(value).c_str(), nullptr);
    } else {
      clause.parameters.emplace_back(name, trim(value));
    }
  }
  return clause;
}

bool goes_before(const Clause& a, const Clause& b) noexcept {
  if (a.quality > b.quality) return true;
  if (a.type != "*" && b.type == "*") return true;
  return a.subtype != "*" && b.subtype == "*";
}

// The order above made a strict one: quality, then types before "*", then subtypes before "*".
bool goes_before_strictly(const Clause& a, const Clause& b) noexcept {
  const double first = std::isnan(a.quality) ? 0 : a.quality, second = std::isnan(b.quality) ? 0 : b.quality;
  if (first != second) return first > second;
  if ((a.type == "*") != (b.type == "*")) return b.type == "*";
  return a.subtype != "*" && b.subtype == "*";
}

// Go sorts so few by insertion: the first order is not a strict one, and clients have come to depend on the result.  Of more, only the cost
// matters.
constexpr std::size_t kSortedByInsertion = 12;

void sort_clauses(std::vector<Clause>& clauses) {
  if (clauses.size() > kSortedByInsertion) {
    std::stable_sort(clauses.begin(), clauses.end(), goes_before_strictly);
    return;
  }
  for (std::size_t i = 1; i < clauses.size(); ++i) {
    for (std::size_t j = i; j > 0 && goes_before(clauses[j], clauses[j - 1]); --j) std::swap(clauses[j], clauses[j - 1]);
  }
}

std::vector<Clause> parse_accept(std::string_view header) {
  std::vector<Clause> clauses;
  while (!header.empty()) {
    if (auto clause = parse_clause(take(header, ','))) clauses.push_back(std::move(*clause));
  }
  sort_clauses(clauses);
  return clauses;
}

struct ShapeRow {
  std::string_view kind;
  Shape shape;
};
constexpr std::array<ShapeRow, 3> kShapes = {{
    {"Table", Shape::kTable},
    {"PartialObjectMetadata", Shape::kMetadata},
    {"PartialObjectMetadataList", Shape::kMetadataList},
}};

// The `as`, `g` and `v` parameters; false when they name nothing that is offered.
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

// Tables have no form but text; other codecs say which objects they can write.
bool writes(const MediaType& media, const Offers& offers) {
  return media.shape == Shape::kTable ? media.codec->is_text() : media.codec->can_write(media.presentation(offers.schema));
}

std::optional<MediaType> accept_clause(const Clause& clause, MediaType media, const Offers& offers) {
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
    } else if (name == "stream" && !value.empty()) {
      if (media.yaml || value != "watch") return std::nullopt;
    }
  }
  if (converts && (!offers.shapes || !take_shape(kind, group, version, media))) return std::nullopt;
  return writes(media, offers) ? std::optional<MediaType>(media) : std::nullopt;
}

struct Served {
  std::string_view subtype;
  MediaType media;
};

// JSON, YAML, and what other codecs write, in the order in which wildcards find them.
std::vector<Served> served_types() {
  std::vector<Served> out;
  for (const Codec* codec : codecs()) {
    const std::string_view type = codec->media_type();
    MediaType media;
    media.codec = codec;
    out.push_back({type.substr(type.find('/') + 1), media});
  }
  MediaType yaml;
  yaml.yaml = true;
  out.insert(out.begin() + 1, {"yaml", yaml});
  return out;
}

std::optional<MediaType> match(std::string_view accept, const Offers& offers) {
  static const std::vector<Served> types = served_types();
  for (const Clause& clause : parse_accept(accept)) {
    for (const Served& type : types) {
      const bool any = clause.type == "*" && clause.subtype == "*";
      const bool fits = clause.type == "application" && (clause.subtype == type.subtype || clause.subtype == "*");
      if (!any && !fits) continue;
      if (auto media = accept_clause(clause, type.media, offers)) return media;
    }
  }
  return std::nullopt;
}

bool is_plain_json(std::string_view accept) noexcept { return accept.empty() || accept == "application/json" || accept == "*/*"; }

// Where no clause has a parameter and the first names a type, it is that type, if it can be written: what nearly every client sends.
const Codec* named_first(std::string_view accept, const Offers& offers) noexcept {
  if (accept.find(';') != std::string_view::npos) return nullptr;
  const std::string_view first = trim(take(accept, ','));
  for (const Codec* codec : codecs()) {
    if (codec->media_type() == first && codec->can_write({offers.schema, false, false})) return codec;
  }
  return nullptr;
}

// What a client could have asked for: no type that would be refused too.
std::string offered_types(const Offers& offers) {
  std::string types;
  for (const Codec* codec : codecs()) {
    if (!codec->can_write({offers.schema, false, false})) continue;
    types.append(types.empty() ? "" : ", ").append(codec->media_type());
    if (codec == &json_codec()) types += ", application/yaml";
  }
  return types;
}

// strconv.ParseBool, an error being false.
bool parse_bool(std::string_view text) noexcept {
  return text == "1" || text == "t" || text == "T" || text == "true" || text == "TRUE" || text == "True";
}

bool in_list(std::string_view list, std::string_view type) noexcept {
  while (!list.empty()) {
    if (trim(take(list, ',')) == type) return true;
  }
  return false;
}

}  // namespace

bool wants_pretty(const Exchange& exchange) {
  const std::string_view target = exchange.target();
  const auto question = target.find('?');
  if (question != std::string_view::npos && target.find("pretty", question) != std::string_view::npos) {
    const Query query = request_query(exchange);
    const std::string_view value = query_get(query, "pretty");
    if (!value.empty()) return parse_bool(value);
  }
  const std::string_view agent = exchange.header("user-agent");
  return agent.starts_with("curl") || agent.starts_with("Wget") || agent.starts_with("Mozilla/5.0");
}

Result<MediaType> negotiate(const Exchange& exchange, const Offers& offers) {
  const std::string_view accept = exchange.header("accept");
  MediaType media;
  if (const Codec* named = named_first(accept, offers)) {
    media.codec = named;
  } else if (!is_plain_json(accept)) {
    auto found = match(accept, offers);
    if (!found) return not_acceptable_types(offered_types(offers));
    media = *found;
  }
  media.pretty = media.pretty || wants_pretty(exchange);
  return media;
}

Status check_route_accept(const Exchange& exchange, bool streams) {
  const std::string_view accept = exchange.header("accept");
  if (is_plain_json(accept)) return {};
  std::string_view rest = accept;
  while (!rest.empty()) {
    std::string_view part = take(rest, ',');
    const std::string_view type = trim(take(part, ';'));
    if (type == "*/*" || in_list(kServedTypes, type)) return {};
  }
  std::string types(kServedTypes);
  if (streams) types.append(", ").append(kStreamTypes);
  const std::string_view method = exchange.method();
  const std::string_view length = exchange.header("content-length");
  const bool has_body_verb = method == "POST" || method == "PUT" || method == "PATCH";
  if (has_body_verb && (length.empty() || length == "0")) return route_unsupported(types);
  return route_not_acceptable(types);
}

std::string_view bare_content_type(const Exchange& exchange) noexcept {
  const std::string_view header = exchange.header("content-type");
  const auto semicolon = header.find(';');
  return semicolon == std::string_view::npos || semicolon == 0 ? header : header.substr(0, semicolon);
}

Result<BodyFormat> negotiate_input(const Exchange& exchange) {
  const std::string_view given = trim(bare_content_type(exchange));
  if (given.empty() || given == "application/json") return BodyFormat::kJson;
  std::string lower(given);
  for (char& letter : lower) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  if (lower == "application/json") return BodyFormat::kJson;
  if (lower == "application/yaml") return BodyFormat::kYaml;
  if (lower == "application/vnd.kubernetes.protobuf") return BodyFormat::kProtobuf;
  return unsupported_media_type(kServedTypes);
}

}  // namespace backplane::endpoints
