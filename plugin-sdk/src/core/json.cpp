// Reading trees, and writing them as Go's encoding/json does.
#include "backplane/core/json.hpp"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "engine/raw_json.hpp"
#include "raw/node.hpp"
#include "text/utf8.hpp"

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

// From here on a float64 has more digits than tell it from others: Go writes zeros in their place.
constexpr double kWholeDigits = 9007199254740992;  // 2^53

void append_large(std::string& out, double number) {
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, number, std::chars_format::scientific).ptr;
  const std::string_view text(buffer, static_cast<std::size_t>(end - buffer));
  const std::size_t mark = text.find('e');
  std::size_t exponent = 0;
  std::from_chars(text.data() + mark + 2, end, exponent);  // behind "e+"
  std::size_t digits = 0;
  for (const char c : text.substr(0, mark)) {
    if (c != '.') out.push_back(c);
    digits += c >= '0' && c <= '9' ? 1 : 0;
  }
  out.append(exponent + 1 - digits, '0');
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
  if (!scientific && size >= kWholeDigits) return append_large(out, number);
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

// Writes trees; raw values compact, or as they were sent.
template <bool kKept>
class JsonWriter {
 public:
  explicit JsonWriter(std::string& out) noexcept : out_(out) {}
  // Whether a raw value is not compact.
  bool differs() const noexcept { return differs_; }

  void write(const Value& value) {
    switch (value.kind()) {
      case json::kind::null:
        out_.append("null");
        return;
      case json::kind::bool_:
        out_.append(value.get_bool() ? "true" : "false");
        return;
      case json::kind::int64:
        return append_integer(out_, value.get_int64());
      case json::kind::uint64:
        return append_integer(out_, value.get_uint64());
      case json::kind::double_:
        return append_double(out_, value.get_double());
      case json::kind::string:
        return append_json_string(out_, text_of(&value));
      case json::kind::array:
        return write(value.get_array());
      case json::kind::object:
        return write(value.get_object());
    }
  }

  void write(const Array& array) {
    if (is_raw_node(array)) return write_raw(text_of(&array[1]));
    out_.push_back('[');
    bool first = true;
    for (const Value& item : array) {
      if (!first) out_.push_back(',');
      first = false;
      write(item);
    }
    out_.push_back(']');
  }

  void write(const Object& object) {
    char lead = '{';
    for (const auto& member : object) {
      append_member_name(out_, std::exchange(lead, ','), member.key());
      write(member.value());
    }
    out_.append(object.empty() ? "{}" : "}");
  }

 private:
  void write_raw(std::string_view text) {
    const std::size_t begin = out_.size();
    append_compact_json(out_, text);
    if (!kKept || std::string_view(out_).substr(begin) == text) return;
    differs_ = true;
    out_.replace(begin, std::string::npos, text);
  }

  std::string& out_;
  bool differs_ = false;
};

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

void append_json(std::string& out, const Value& value) { JsonWriter<false>(out).write(value); }
void append_json(std::string& out, const Array& array) { JsonWriter<false>(out).write(array); }
void append_json(std::string& out, const Object& object) { JsonWriter<false>(out).write(object); }

bool append_kept_json(std::string& out, const Value& value) {
  JsonWriter<true> writer(out);
  writer.write(value);
  return writer.differs();
}
bool append_kept_json(std::string& out, const Object& object) {
  JsonWriter<true> writer(out);
  writer.write(object);
  return writer.differs();
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

}  // namespace BACKPLANE_API
