// Bodies, queries and selectors.
#include "text_targets.hpp"

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>

#include "backplane/core/selectors.hpp"
#include "backplane/points/http.hpp"
#include "backplane/types/schema.hpp"
#include "endpoints/websocket.hpp"
#include "engine/cbor.hpp"
#include "engine/codec.hpp"
#include "engine/field_set.hpp"
#include "require.hpp"
#include "routing/request_info.hpp"

namespace backplane::fuzz {
namespace {

const Schema& pod() {
  static const Schema* const schema = core_schemas()->find(GroupVersionKind{"", "v1", "Pod"});
  FUZZ_REQUIRE(schema != nullptr);
  return *schema;
}

// Checks that normalizing a canonical object changes nothing, and that its JSON is parsed to the same tree.
void check_canonical(Value value) {
  DecodeReport report;
  if (!pod().normalize(value, &report).ok()) return;
  const std::string once = to_json(value);
  FUZZ_REQUIRE(pod().normalize(value, nullptr).ok());
  FUZZ_REQUIRE(to_json(value) == once);
  DecodeReport again;
  auto read = parse_json(once, json::make_shared_resource<json::monotonic_resource>(), &again);
  FUZZ_REQUIRE(read.ok());
  // Invalid UTF-8 is printed as an escape, and read as the replacement character.
  FUZZ_REQUIRE(to_json(*read) == boost::algorithm::replace_all_copy(once, "\\ufffd", "\xef\xbf\xbd"));
}

}  // namespace

// Checks that a parsed tree is encoded to bytes that are parsed to the same tree.
void cbor_body(std::string_view bytes) {
  auto value = parse_cbor(bytes, json::make_shared_resource<json::monotonic_resource>());
  if (!value.ok()) return;
  const std::string once = to_json(*value);
  const auto written = cbor_codec().to_stored(nullptr, once);
  FUZZ_REQUIRE(written.ok());
  const auto back = parse_cbor(*written, {});
  FUZZ_REQUIRE(back.ok() && to_json(*back) == once);
  check_canonical(std::move(*value));
}

void json_body(std::string_view bytes) {
  DecodeReport report;
  auto value = parse_json(bytes, json::make_shared_resource<json::monotonic_resource>(), &report);
  if (value.ok()) check_canonical(std::move(*value));
}

void yaml_body(std::string_view bytes) {
  DecodeReport report;
  auto value = parse_yaml(bytes, json::make_shared_resource<json::monotonic_resource>(), &report);
  if (!value.ok()) return;
  (void)to_yaml(*value);
  check_canonical(std::move(*value));
}

void protobuf_body(std::string_view bytes) {
  const auto envelope = open_protobuf_envelope(bytes);
  auto value = pod().decode_protobuf(envelope.ok() ? envelope->raw : bytes, json::make_shared_resource<json::monotonic_resource>());
  if (value.ok()) check_canonical(std::move(*value));
}

// The input has two field sets, one per line. Checks that their texts are parsed to the same sets, and the laws of set operations.
void field_sets(std::string_view bytes) {
  const auto line = std::min(bytes.find('\n'), bytes.size());
  const auto one = FieldSet::decode(bytes.substr(0, line));
  const auto other = FieldSet::decode(bytes.substr(std::min(line + 1, bytes.size())));
  // Invalid UTF-8 is written as the replacement character.
  const auto plain = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
  if (!one.ok() || !std::all_of(bytes.begin(), bytes.end(), plain)) return;
  const std::string written = one->encode();
  const auto again = FieldSet::decode(written);
  FUZZ_REQUIRE(again.ok() && *again == *one && again->encode() == written);
  for (const FieldPath& path : one->paths()) {
    FUZZ_REQUIRE(one->has(path));
    (void)path_text(path);
  }
  if (!other.ok()) return;
  const FieldSet shared = one->intersect(*other);
  FUZZ_REQUIRE(shared == other->intersect(*one));
  FUZZ_REQUIRE(one->unite(*other) == other->unite(*one));
  FUZZ_REQUIRE(one->subtract(*other).unite(shared) == *one);
  FUZZ_REQUIRE(one->subtract_trees(*other).intersect(*other).empty());
  FUZZ_REQUIRE(meets(bytes.substr(0, line), *other) == !shared.empty());
}

// The first line of the input is the object, the second line the patch.
void patches(std::string_view bytes) {
  const auto line = bytes.find('\n');
  if (line == std::string_view::npos) return;
  const auto storage = json::make_shared_resource<json::monotonic_resource>();
  DecodeReport report;
  auto object = parse_json(bytes.substr(0, line), storage, &report);
  auto patch = parse_json(bytes.substr(line + 1), storage, &report);
  if (!object.ok() || !patch.ok() || !object->is_object()) return;
  Value merged(*object, storage);
  merge_patch(merged, *patch);
  if (patch->is_array()) {
    Value changed(*object, storage);
    (void)json_patch(changed, patch->get_array());
  }
  Value strategic(*object, storage);
  if (patch->is_object() && pod().normalize(strategic, nullptr).ok() && pod().strategic_merge(strategic, *patch).ok()) {
    check_canonical(std::move(strategic));
  }
}

// Checks that the text of a parsed selector is parsed to the same selector.
void selectors(std::string_view bytes) {
  if (const auto labels = LabelSelector::parse(bytes); labels.ok()) {
    const auto again = LabelSelector::parse(labels->to_string());
    FUZZ_REQUIRE(again.ok());
    FUZZ_REQUIRE(again->to_string() == labels->to_string());
    (void)labels->matches(Labels{{"a", "1"}, {"b", "x"}});
  }
  if (const auto fields = FieldSelector::parse(bytes); fields.ok()) {
    const auto again = FieldSelector::parse(fields->to_string());
    FUZZ_REQUIRE(again.ok());
    // Terms are sorted by their original text, with "==" before "="; a second pass sorts them by "=" only.
    const auto settled = FieldSelector::parse(again->to_string());
    FUZZ_REQUIRE(settled.ok());
    FUZZ_REQUIRE(settled->to_string() == again->to_string());
  }
}

void targets_and_queries(std::string_view bytes) {
  for (const std::string_view method : {"GET", "POST"}) {
    RequestInfo info;
    (void)parse_request_info(method, bytes, info);
  }
  const auto question = bytes.find('?');
  (void)parse_query(question == std::string_view::npos ? bytes : bytes.substr(question + 1));
  bool good = false;
  (void)percent_decode(bytes, true, &good);
}

// The first line of the input is an untrusted schema, the second line an object that is validated against it.
void custom_schemas(std::string_view bytes) {
  const auto line = bytes.find('\n');
  const std::string document = R"({"x-backplane-mode":"structural","definitions":{"a":)" + std::string(bytes.substr(0, line)) + "}}";
  const std::string_view view = document;
  const auto set = SchemaSet::compile({&view, 1});
  if (!set.ok() || line == std::string_view::npos) return;
  const Schema* schema = (*set)->find("a");
  if (schema == nullptr) return;
  DecodeReport report;
  auto object = parse_json(bytes.substr(line + 1), json::make_shared_resource<json::monotonic_resource>(), &report);
  if (!object.ok() || !schema->normalize(*object, &report).ok()) return;
  schema->apply_defaults(*object);
  FieldErrors errors;
  schema->validate(*object, "", errors);
}

// WebSocket frames that arrive in pieces. The first byte selects the size of the pieces.
void websocket_frames(std::string_view bytes) {
  if (bytes.empty()) return;
  const std::size_t piece = 1 + static_cast<unsigned char>(bytes.front());
  endpoints::FrameParser parser;
  for (std::size_t at = 1; at < bytes.size(); at += piece) {
    parser.feed(bytes.substr(at, piece));
    for (auto event = parser.next(); event != endpoints::FrameParser::Event::kNeedsMore; event = parser.next()) {
      if (event == endpoints::FrameParser::Event::kBroken) return;
      FUZZ_REQUIRE(parser.payload().size() <= 125);
    }
  }
}

}  // namespace backplane::fuzz
