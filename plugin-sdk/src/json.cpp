// Reading trees, and writing them as Go's encoding/json does.
#include "backplane/json.hpp"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "utf8.hpp"

namespace backplane BACKPLANE_API {
namespace {

constexpr char kHex[] = "0123456789abcdef";

// Bytes that append_json_string cannot copy as they are.
constexpr std::array<bool, 256> make_escape_table() {
  std::array<bool, 256> table{};
  for (std::size_t i = 0; i < 256; ++i) table[i] = i < 0x20 || i >= 0x80 || i == '"' || i == '\\' || i == '<' || i == '>' || i == '&';
  return table;
}
constexpr std::array<bool, 256> kEscape = make_escape_table();

void append_ascii_escape(std::string& out, unsigned char byte) {
  switch (byte) {
    case '"':
      out.append("\\\"");
      return;
    case '\\':
      out.append("\\\\");
      return;
    case '\b':
      out.append("\\b");
      return;
    case '\f':
      out.append("\\f");
      return;
    case '\n':
      out.append("\\n");
      return;
    case '\r':
      out.append("\\r");
      return;
    case '\t':
      out.append("\\t");
      return;
    default:
      out.append("\\u00");
      out.push_back(kHex[byte >> 4]);
      out.push_back(kHex[byte & 0xF]);
  }
}

// Appends one code point of several bytes; returns its length.
std::size_t append_rune(std::string& out, std::string_view text) {
  const Rune rune = decode_rune(text);
  if (!rune.valid) {
    out.append("\\ufffd");
  } else if (rune.code == 0x2028 || rune.code == 0x2029) {
    out.append(rune.code == 0x2028 ? "\\u2028" : "\\u2029");
  } else {
    out.append(text.substr(0, rune.size));
  }
  return rune.size;
}

// ECMAScript's number form, as Go prints float64: shortest digits, an exponent below 1e-6 and from 1e21 on.
void append_double(std::string& out, double number) {
  if (!std::isfinite(number)) {
    out.append("null");  // JSON has no such number; a tree never holds one.
    return;
  }
  const double size = std::fabs(number);
  const bool scientific = size != 0 && (size < 1e-6 || size >= 1e21);
  char buffer[400];
  auto [end, error] =
      std::to_chars(buffer, buffer + sizeof buffer, number, scientific ? std::chars_format::scientific : std::chars_format::fixed);
  if (error != std::errc()) end = buffer;
  std::string_view text(buffer, static_cast<std::size_t>(end - buffer));
  // e-09 becomes e-9.
  if (scientific && text.size() >= 4 && text[text.size() - 4] == 'e' && text[text.size() - 3] == '-' && text[text.size() - 2] == '0') {
    out.append(text.substr(0, text.size() - 2));
    out.push_back(text.back());
  } else {
    out.append(text);
  }
}

template <class Number>
void append_integer(std::string& out, Number number) {
  char buffer[24];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, number).ptr;
  out.append(buffer, static_cast<std::size_t>(end - buffer));
}

// Length of the string literal that starts at `at`, quotes included.
std::size_t literal_length(std::string_view text, std::size_t at) {
  std::size_t i = at + 1;
  while (i < text.size() && text[i] != '"') i += text[i] == '\\' ? 2 : 1;
  return std::min(i + 1, text.size()) - at;
}

void append_line(std::string& out, int depth) {
  out.push_back('\n');
  out.append(static_cast<std::size_t>(depth) * 2, ' ');
}

std::string_view text_of(const Value* value) noexcept {
  if (value == nullptr || !value->is_string()) return {};
  const json::string& text = value->get_string();
  return {text.data(), text.size()};
}

std::optional<std::int64_t> int_of(const Value* value) noexcept {
  if (value == nullptr) return std::nullopt;
  if (value->is_int64()) return value->get_int64();
  if (value->is_uint64() && value->get_uint64() <= static_cast<std::uint64_t>(INT64_MAX)) {
    return static_cast<std::int64_t>(value->get_uint64());
  }
  return std::nullopt;
}

#ifdef __SSE2__
// Which of 16 bytes a JSON string does not hold as they are, as bits.
unsigned special_bytes(__m128i bytes) noexcept {
  // Control characters, and what is not ASCII: those are negative.  '<' and '>', '"' and '&' differ in one bit.
  __m128i special = _mm_cmplt_epi8(bytes, _mm_set1_epi8(0x20));
  special = _mm_or_si128(special, _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')));
  special = _mm_or_si128(special, _mm_cmpeq_epi8(_mm_or_si128(bytes, _mm_set1_epi8(2)), _mm_set1_epi8('>')));
  special = _mm_or_si128(special, _mm_cmpeq_epi8(_mm_or_si128(bytes, _mm_set1_epi8(4)), _mm_set1_epi8('&')));
  return static_cast<unsigned>(_mm_movemask_epi8(special));
}
unsigned special_at(const char* text) noexcept { return special_bytes(_mm_loadu_si128(reinterpret_cast<const __m128i*>(text))); }
unsigned special_of_eight(const char* text) noexcept {
  return special_bytes(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(text))) & 0xFF;
}
#endif

// How many bytes at the front of `text` a JSON string holds as they are.
std::size_t plain_prefix(std::string_view text) noexcept {
  std::size_t at = 0;
#ifdef __SSE2__
  const auto first = [](std::size_t from, unsigned found) { return from + static_cast<std::size_t>(std::countr_zero(found)); };
  const char* const data = text.data();
  const std::size_t size = text.size();
  for (; at + 16 <= size; at += 16) {
    if (const unsigned found = special_at(data + at); found != 0) return first(at, found);
  }
  // What is left over is looked at together with what is before it.
  if (size >= 16) {
    const unsigned found = special_at(data + size - 16);
    return found != 0 ? first(size - 16, found) : size;
  }
  if (size >= 8) {
    if (const unsigned found = special_of_eight(data); found != 0) return first(0, found);
    const unsigned found = special_of_eight(data + size - 8);
    return found != 0 ? first(size - 8, found) : size;
  }
#endif
  while (at < text.size() && !kEscape[static_cast<unsigned char>(text[at])]) ++at;
  return at;
}

// `lead` and the name of a member, with its colon.  Most names are plain: they are written in one go.
void append_member_name(std::string& out, char lead, std::string_view name) {
  if (plain_prefix(name) < name.size()) {
    out.push_back(lead);
    append_json_string(out, name);
    out.push_back(':');
    return;
  }
  const std::size_t at = out.size();
  out.resize(at + name.size() + 4);
  char* to = out.data() + at;
  *to++ = lead;
  *to++ = '"';
  to = std::copy(name.begin(), name.end(), to);
  *to++ = '"';
  *to = ':';
}

// Boost.JSON has no index of objects that are this small either.
constexpr std::size_t kSmallObject = 18;

template <class AnyObject>
auto find_member(AnyObject& object, std::string_view key) noexcept -> decltype(object.if_contains(key)) {
  if (object.size() > kSmallObject) return object.if_contains(key);
  for (auto& member : object) {
    const auto name = member.key();
    if (name.size() == key.size() && std::memcmp(name.data(), key.data(), key.size()) == 0) return &member.value();
  }
  return nullptr;
}

}  // namespace

const Value* find(const Object& object, std::string_view key) noexcept { return find_member(object, key); }
Value* find(Object& object, std::string_view key) noexcept { return find_member(object, key); }

const Value* find_path(const Object& object, std::initializer_list<std::string_view> path) noexcept {
  const Object* at = &object;
  const Value* found = nullptr;
  for (std::string_view key : path) {
    if (at == nullptr) return nullptr;
    found = find_member(*at, key);
    if (found == nullptr) return nullptr;
    at = found->if_object();
  }
  return found;
}

const Value* find_path(const Object& object, std::string_view dotted) noexcept {
  const Object* at = &object;
  const Value* found = nullptr;
  while (true) {
    if (at == nullptr) return nullptr;
    const auto dot = dotted.find('.');
    found = find_member(*at, dotted.substr(0, dot));
    if (found == nullptr || dot == std::string_view::npos) return found;
    at = found->if_object();
    dotted.remove_prefix(dot + 1);
  }
}

std::string_view get_string(const Object& object, std::string_view key) noexcept { return text_of(find(object, key)); }
std::string_view get_string_path(const Object& object, std::string_view dotted) noexcept { return text_of(find_path(object, dotted)); }
std::optional<std::int64_t> get_int(const Object& object, std::string_view key) noexcept { return int_of(find(object, key)); }
std::optional<std::int64_t> get_int_path(const Object& object, std::string_view dotted) noexcept {
  return int_of(find_path(object, dotted));
}
std::optional<bool> get_bool(const Object& object, std::string_view key) noexcept {
  const Value* value = find(object, key);
  if (value == nullptr || !value->is_bool()) return std::nullopt;
  return value->get_bool();
}
const Object* get_object(const Object& object, std::string_view key) noexcept {
  const Value* value = find(object, key);
  return value ? value->if_object() : nullptr;
}
const Array* get_array(const Object& object, std::string_view key) noexcept {
  const Value* value = find(object, key);
  return value ? value->if_array() : nullptr;
}

Object& ensure_object(Object& parent, std::string_view key) {
  Value& value = parent[key];
  return value.is_object() ? value.get_object() : value.emplace_object();
}
Array& ensure_array(Object& parent, std::string_view key) {
  Value& value = parent[key];
  return value.is_array() ? value.get_array() : value.emplace_array();
}

bool erase_member(Object& object, std::string_view key) {
  const auto found = object.find(key);
  if (found == object.end()) return false;
  object.stable_erase(found);
  return true;
}

void append_json_string(std::string& out, std::string_view text) {
  const std::size_t plain = plain_prefix(text);
  const std::size_t at = out.size();
  out.resize(at + plain + 1);
  out[at] = '"';
  std::copy_n(text.begin(), plain, out.begin() + static_cast<std::ptrdiff_t>(at + 1));
  for (text.remove_prefix(plain); !text.empty();) {
    const auto byte = static_cast<unsigned char>(text.front());
    if (!kEscape[byte]) {
      const std::size_t more = plain_prefix(text);
      out.append(text.substr(0, more));
      text.remove_prefix(more);
    } else if (byte < 0x80) {
      append_ascii_escape(out, byte);
      text.remove_prefix(1);
    } else {
      text.remove_prefix(append_rune(out, text));
    }
  }
  out.push_back('"');
}

void append_json(std::string& out, const Value& value) {
  switch (value.kind()) {
    case json::kind::null:
      out.append("null");
      return;
    case json::kind::bool_:
      out.append(value.get_bool() ? "true" : "false");
      return;
    case json::kind::int64:
      append_integer(out, value.get_int64());
      return;
    case json::kind::uint64:
      append_integer(out, value.get_uint64());
      return;
    case json::kind::double_:
      append_double(out, value.get_double());
      return;
    case json::kind::string:
      append_json_string(out, text_of(&value));
      return;
    case json::kind::array:
      append_json(out, value.get_array());
      return;
    case json::kind::object:
      append_json(out, value.get_object());
      return;
  }
}

void append_json(std::string& out, const Array& array) {
  out.push_back('[');
  bool first = true;
  for (const Value& item : array) {
    if (!first) out.push_back(',');
    first = false;
    append_json(out, item);
  }
  out.push_back(']');
}

void append_json(std::string& out, const Object& object) {
  char lead = '{';
  for (const auto& member : object) {
    append_member_name(out, std::exchange(lead, ','), member.key());
    append_json(out, member.value());
  }
  out.append(object.empty() ? "{}" : "}");
}

std::string to_json(const Value& value) {
  std::string out;
  append_json(out, value);
  return out;
}
std::string to_json(const Object& object) {
  std::string out;
  append_json(out, object);
  return out;
}
std::string to_json(const Array& array) {
  std::string out;
  append_json(out, array);
  return out;
}

std::string pretty_json(std::string_view compact) {
  std::string out;
  out.reserve(compact.size() + compact.size() / 2);
  int depth = 0;
  for (std::size_t i = 0; i < compact.size(); ++i) {
    const char letter = compact[i];
    const char next = i + 1 < compact.size() ? compact[i + 1] : '\0';
    if (letter == '"') {
      const std::size_t length = literal_length(compact, i);
      out.append(compact.substr(i, length));
      i += length - 1;
    } else if (letter == '{' || letter == '[') {
      out.push_back(letter);
      if (next == '}' || next == ']') {
        out.push_back(next);
        ++i;
      } else {
        append_line(out, ++depth);
      }
    } else if (letter == '}' || letter == ']') {
      append_line(out, --depth);
      out.push_back(letter);
    } else if (letter == ',') {
      out.push_back(letter);
      append_line(out, depth);
    } else if (letter == ':') {
      out.append(": ");
    } else if (letter != '\n') {
      out.push_back(letter);
    }
  }
  out.push_back('\n');
  return out;
}

}  // namespace BACKPLANE_API
