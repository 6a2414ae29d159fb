// The target for raw JSON values (engine/raw_json.hpp) and patches of them.
#include <algorithm>

#include "backplane/types/json_reading.hpp"
#include "engine/raw_json.hpp"
#include "require.hpp"
#include "text_targets.hpp"

namespace backplane::fuzz {
namespace {

const Schema& holder() {
  static const Schema* const schema = meta_schemas()->find("io.k8s.apimachinery.pkg.apis.meta.v1.WatchEvent");
  FUZZ_REQUIRE(schema != nullptr && holds_raw(schema));
  return *schema;
}

std::optional<Value> read(std::string_view text) {
  auto tree = parse_json(text, json::make_shared_resource<json::monotonic_resource>(), nullptr);
  if (!tree.ok() || !tree->is_object()) return std::nullopt;
  keep_raw(&holder(), *tree, text);
  if (!holder().normalize(*tree, nullptr).ok()) return std::nullopt;
  return std::move(*tree);
}

// Checks that stored raw JSON is read unchanged, and is printed without its white space.
void check_kept(const Value& tree) {
  std::string kept, compact;
  (void)append_kept_json(kept, tree);
  append_compact_json(compact, kept);
  FUZZ_REQUIRE(to_json(tree) == compact);
  const auto again = read(kept);
  FUZZ_REQUIRE(again && *again == tree);
  std::string message;
  FUZZ_REQUIRE(holder().encode_protobuf(kept, message).ok());
  auto back = holder().decode_protobuf(message, {});
  FUZZ_REQUIRE(back.ok() && holder().normalize(*back, nullptr).ok());
  std::string kept_back;
  (void)append_kept_json(kept_back, *back);
  FUZZ_REQUIRE(kept_back == kept);
}

// Parses a raw value level by level; the result must equal that of read_raw().
void open_all(Value& value) {
  open_raw(value);
  if (is_raw(value)) return read_raw(value);
  if (Object* object = value.if_object()) {
    for (auto& member : *object) open_all(member.value());
  } else if (Array* array = value.if_array()) {
    for (Value& item : *array) open_all(item);
  }
}

void patch(Value tree, std::string_view text) {
  auto sent = parse_json(text, json::make_shared_resource<json::monotonic_resource>(), nullptr);
  if (!sent.ok()) return;
  compact_raw_within(tree);
  if (sent->is_array()) {
    keep_raw_operations(&holder(), *sent, text);
    if (!json_patch(tree, sent->get_array()).ok()) return;
  } else {
    keep_raw(&holder(), *sent, text);
    merge_patch(tree, *sent);
  }
  if (nests_deeper(tree, kMaxJsonDepth) || !holder().normalize(tree, nullptr).ok()) return;
  check_kept(tree);
}

}  // namespace

// The first line is the object, the second a patch.
void raw_values(std::string_view bytes) {
  const std::size_t line = std::min(bytes.find('\n'), bytes.size());
  const auto tree = read(bytes.substr(0, line));
  // Invalid UTF-8 is written as the replacement character.
  const auto plain = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
  if (!tree || !std::all_of(bytes.begin(), bytes.end(), plain)) return;
  check_kept(*tree);
  Value opened(*tree), at_once(*tree);
  open_all(opened);
  read_raw_within(at_once);
  FUZZ_REQUIRE(opened == at_once);
  patch(*tree, bytes.substr(std::min(line + 1, bytes.size())));
}

}  // namespace backplane::fuzz
