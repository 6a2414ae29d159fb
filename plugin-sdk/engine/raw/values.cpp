// Raw values as nodes of a tree: made, read, opened level by level, and written.
#include <algorithm>
#include <array>
#include <vector>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "engine/raw_json.hpp"
#include "raw/node.hpp"
#include "schema/scan.hpp"

namespace backplane BACKPLANE_API {
namespace {

constexpr bool is_blank(char c) noexcept { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

// Bytes that compacting may change.
constexpr std::array<bool, 256> looked_at() {
  std::array<bool, 256> out{};
  for (const char c : {' ', '\n', '\t', '\r', '<', '>', '&', '\xe2'}) out[static_cast<unsigned char>(c)] = true;
  return out;
}
constexpr std::array<bool, 256> kLookedAt = looked_at();

// True if the text contains no such byte.  Other control characters may also make the result false.
bool is_compact(std::string_view text) noexcept {
  std::size_t at = 0;
#ifdef __SSE2__
  const auto is = [](__m128i bytes, char c) { return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(c)); };
  for (; at + 16 <= text.size(); at += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text.data() + at));
    const __m128i blank = is(_mm_max_epu8(bytes, _mm_set1_epi8(' ')), ' ');
    // '<' and '>' differ in one bit.
    const __m128i angle = is(_mm_or_si128(bytes, _mm_set1_epi8(2)), '>');
    const __m128i other = _mm_or_si128(is(bytes, '&'), is(bytes, '\xe2'));
    if (_mm_movemask_epi8(_mm_or_si128(blank, _mm_or_si128(angle, other))) != 0) return false;
  }
#endif
  return std::none_of(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(),
                      [](char c) { return kLookedAt[static_cast<unsigned char>(c)]; });
}

void append_hex(std::string& out, char c) {
  constexpr char kDigits[] = "0123456789abcdef";
  out.append("\\u00");
  out.push_back(kDigits[static_cast<unsigned char>(c) >> 4]);
  out.push_back(kDigits[static_cast<unsigned char>(c) & 0xF]);
}

Value read_text(std::string_view text, const json::storage_ptr& storage) {
  DecodeReport report;
  report.merge_duplicates = false;
  auto tree = parse_json(text, storage, &report);
  return tree.ok() ? std::move(*tree) : Value(storage);
}

// A name as the parser reads it, with the replacement for unpaired surrogates.
std::string name_of(std::string_view raw_key) {
  if (raw_key.find('\\') == std::string_view::npos) return std::string(raw_key);
  const Value name = read_text('"' + std::string(raw_key) + '"', {});
  return name.is_string() ? std::string(std::string_view(name.get_string())) : std::string(raw_key);
}

// The result for one member or item of an opened value.
Value part_of(std::string_view text, const json::storage_ptr& storage) {
  std::string compact;
  append_compact_json(compact, text);
  if (compact.starts_with('{') || compact.starts_with('[')) return make_raw(compact, storage);
  Value value = read_text(compact, storage);
  return to_json(value) == compact ? value : make_raw(compact, storage);
}

void append_sorted(std::string& out, const Value& value);

void append_sorted(std::string& out, const Object& object) {
  std::vector<const json::key_value_pair*> members;
  members.reserve(object.size());
  for (const auto& member : object) members.push_back(&member);
  std::sort(members.begin(), members.end(), [](const auto* a, const auto* b) { return a->key() < b->key(); });
  char lead = '{';
  for (const json::key_value_pair* member : members) {
    out.push_back(std::exchange(lead, ','));
    append_json_string(out, member->key());
    out.push_back(':');
    append_sorted(out, member->value());
  }
  out.append(members.empty() ? "{}" : "}");
}

void append_sorted(std::string& out, const Value& value) {
  if (value.is_object()) return append_sorted(out, value.get_object());
  if (!value.is_array() || is_raw(value)) return append_json(out, value);
  char lead = '[';
  for (const Value& item : value.get_array()) {
    out.push_back(std::exchange(lead, ','));
    append_sorted(out, item);
  }
  out.append(value.get_array().empty() ? "[]" : "]");
}

template <class Change>
void change_raw_within(Value& tree, const Change& change) {
  if (is_raw(tree)) return change(tree);
  if (Object* object = tree.if_object()) {
    for (auto& member : *object) change_raw_within(member.value(), change);
  } else if (Array* array = tree.if_array()) {
    for (Value& item : *array) change_raw_within(item, change);
  }
}

}  // namespace

bool is_raw(const Value& value) noexcept {
  const Array* array = value.if_array();
  return array != nullptr && is_raw_node(*array);
}

std::string_view raw_text(const Value& raw) noexcept {
  const json::string& text = raw.get_array()[1].get_string();
  return {text.data(), text.size()};
}

Value make_raw(std::string_view text, json::storage_ptr storage) {
  Array node(std::move(storage));
  node.reserve(2);
  node.emplace_back(kRawMark);
  node.emplace_back(text);
  return node;
}

void append_compact_json(std::string& out, std::string_view text) {
  // Nearly all texts are compact.
  if (is_compact(text)) {
    out.append(text);
    return;
  }
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '<' || c == '>' || c == '&') {
      append_hex(out, c);
    } else if (c == '\xe2' && i + 2 < text.size() && text[i + 1] == '\x80' && (text[i + 2] & '\xfe') == '\xa8') {
      out.append(text[i + 2] == '\xa8' ? "\\u2028" : "\\u2029");
      i += 2;
    } else if (quoted || !is_blank(c)) {
      out.push_back(c);
      if (quoted && c == '\\' && i + 1 < text.size()) {
        out.push_back(text[++i]);
      } else if (c == '"') {
        quoted = !quoted;
      }
    }
  }
}

void read_raw(Value& value) {
  if (!is_raw(value)) return;
  Value tree = read_text(raw_text(value), value.storage());
  value = std::move(tree);
}

void open_raw(Value& value) {
  if (!is_raw(value)) return;
  const std::string text(raw_text(value));
  const json::storage_ptr storage = value.storage();
  schema::Scanner scanner(text);
  if (scanner.enter('{')) {
    Object object(storage);
    std::string_view raw_key;
    while (scanner.next_key(raw_key)) {
      object.insert_or_assign(name_of(raw_key), part_of(scanner.value(), storage));
    }
    value = std::move(object);
  } else if (scanner.enter('[')) {
    Array array(storage);
    while (scanner.next_item()) array.push_back(part_of(scanner.value(), storage));
    value = std::move(array);
  }
}

void normalize_raw(Value& value) {
  if (is_raw(value) || value.is_null()) return;
  std::string text;
  append_sorted(text, value);
  value = make_raw(text, value.storage());
}

void read_raw_within(Value& tree) { change_raw_within(tree, read_raw); }

void compact_raw_within(Value& tree) {
  change_raw_within(tree, [](Value& raw) {
    std::string text;
    append_compact_json(text, raw_text(raw));
    if (text != raw_text(raw)) raw = make_raw(text, raw.storage());
  });
}

std::string kept_json(const Value& value) {
  std::string out(1, ' ');
  if (!append_kept_json(out, value)) out.erase(0, 1);
  return out;
}

}  // namespace BACKPLANE_API
