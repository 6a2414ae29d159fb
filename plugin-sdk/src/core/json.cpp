// Reads trees, and prints them as Go's encoding/json does.
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
#include "text/same_text.hpp"
#include "text/utf8.hpp"

namespace backplane BACKPLANE_API {
namespace {

constexpr char kHex[] = "0123456789abcdef";

// Bytes that must be escaped in a JSON string.
constexpr std::array<bool, 256> make_escape_table() {
  std::array<bool, 256> table{};
  for (std::size_t i = 0; i < 256; ++i) table[i] = i < 0x20 || i >= 0x80 || i == '"' || i == '\\' || i == '<' || i == '>' || i == '&';
  return table;
}
constexpr std::array<bool, 256> kEscape = make_escape_table();

// Copies a short text without calling memcpy.
char* copy_text(char* to, std::string_view text) noexcept {
  const char* const from = text.data();
  const std::size_t size = text.size();
  if (size > 32) {
    std::memcpy(to, from, size);
  } else if (size >= 16) {
    std::memcpy(to, from, 16);
    std::memcpy(to + size - 16, from + size - 16, 16);
  } else if (size >= 8) {
    std::memcpy(to, from, 8);
    std::memcpy(to + size - 8, from + size - 8, 8);
  } else if (size >= 4) {
    std::memcpy(to, from, 4);
    std::memcpy(to + size - 4, from + size - 4, 4);
  } else {
    for (std::size_t at = 0; at < size; ++at) to[at] = from[at];
  }
  return to + size;
}

// Collects the parts of a text and appends them to a string in blocks. flush() appends the last block.
class JsonOutput {
 public:
  static constexpr std::size_t kBlock = 1024;

  explicit JsonOutput(std::string& out) noexcept : out_(out) {}
  JsonOutput(const JsonOutput&) = delete;
  JsonOutput& operator=(const JsonOutput&) = delete;

  void put(char c) {
    char* const to = room(1);
    *to = c;
    written_to(to + 1);
  }
  void put(std::string_view text) {
    if (text.size() <= kBlock) return written_to(copy_text(room(text.size()), text));
    flush();
    out_.append(text);
  }
  // Returns a buffer for `size` bytes, at most kBlock. The caller passes the end of the bytes that it has written to written_to().
  char* room(std::size_t size) {
    if (static_cast<std::size_t>(block_ + kBlock - at_) < size) flush();
    return at_;
  }
  void written_to(char* end) noexcept { at_ = end; }
  // Appends the last block, and returns the string with all parts.
  std::string& flush() {
    out_.append(block_, static_cast<std::size_t>(at_ - block_));
    at_ = block_;
    return out_;
  }

 private:
  std::string& out_;
  char block_[kBlock];
  char* at_ = block_;
};

void write_ascii_escape(JsonOutput& out, unsigned char byte) {
  switch (byte) {
    case '"':
      return out.put("\\\"");
    case '\\':
      return out.put("\\\\");
    case '\b':
      return out.put("\\b");
    case '\f':
      return out.put("\\f");
    case '\n':
      return out.put("\\n");
    case '\r':
      return out.put("\\r");
    case '\t':
      return out.put("\\t");
    default:
      out.put("\\u00");
      out.put(kHex[byte >> 4]);
      out.put(kHex[byte & 0xF]);
  }
}

// Writes one code point that has several bytes. Returns its length in `text`.
std::size_t write_rune(JsonOutput& out, std::string_view text) {
  const Rune rune = decode_rune(text);
  if (!rune.valid) {
    out.put("\\ufffd");
  } else if (rune.code == 0x2028 || rune.code == 0x2029) {
    out.put(rune.code == 0x2028 ? "\\u2028" : "\\u2029");
  } else {
    out.put(text.substr(0, rune.size));
  }
  return rune.size;
}

// The shortest digits of a float64 from here on end before the decimal point; Go appends zeros up to it.
constexpr double kWholeDigits = 9007199254740992;  // 2^53

void append_large(std::string& out, double number) {
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, number, std::chars_format::scientific).ptr;
  const std::string_view text(buffer, static_cast<std::size_t>(end - buffer));
  const std::size_t mark = text.find('e');
  std::size_t exponent = 0;
  std::from_chars(text.data() + mark + 2, end, exponent);  // after "e+"
  std::size_t digits = 0;
  for (const char c : text.substr(0, mark)) {
    if (c != '.') out.push_back(c);
    digits += c >= '0' && c <= '9' ? 1 : 0;
  }
  out.append(exponent + 1 - digits, '0');
}

// Appends a number in ECMAScript's format, as Go prints float64: the shortest digits, with an exponent below 1e-6 and from 1e21 on.
void append_double(std::string& out, double number) {
  if (!std::isfinite(number)) {
    out.append("null");  // JSON has no NaN and no infinity; a tree never holds them.
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
void write_integer(JsonOutput& out, Number number) {
  constexpr std::size_t kDigits = 24;
  char* const at = out.room(kDigits);
  out.written_to(std::to_chars(at, at + kDigits, number).ptr);
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
// Returns a mask of the bytes, out of 16, that must be escaped in a JSON string.
unsigned special_bytes(__m128i bytes) noexcept {
  // The comparison finds control characters, and bytes outside ASCII, which are negative.  '<' and '>' differ in one bit, and so do '"' and
  // '&'.
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

// The number of bytes at the front of `text` that need no escape.
std::size_t plain_prefix(std::string_view text) noexcept {
  std::size_t at = 0;
#ifdef __SSE2__
  const auto first = [](std::size_t from, unsigned found) { return from + static_cast<std::size_t>(std::countr_zero(found)); };
  const char* const data = text.data();
  const std::size_t size = text.size();
  for (; at + 16 <= size; at += 16) {
    if (const unsigned found = special_at(data + at); found != 0) return first(at, found);
  }
  // The last bytes are tested in a block that overlaps the previous one.
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

// Writes a short text that needs no escapes in quotes, with `lead` before it and `end` after it ('\0': none). If the text is too long or
// needs escapes, returns false and writes nothing.
bool write_short(JsonOutput& out, char lead, std::string_view text, char end) {
  constexpr std::size_t kLongest = 256;
  if (text.size() > kLongest || plain_prefix(text) < text.size()) return false;
  char* to = out.room(kLongest + 4);
  *to = lead;
  to += lead == '\0' ? 0 : 1;
  *to++ = '"';
  to = copy_text(to, text);
  *to++ = '"';
  *to = end;
  out.written_to(to + (end == '\0' ? 0 : 1));
  return true;
}

void write_long(JsonOutput& out, std::string_view text) {
  out.put('"');
  while (!text.empty()) {
    const std::size_t plain = plain_prefix(text);
    out.put(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) break;
    const auto byte = static_cast<unsigned char>(text.front());
    if (byte < 0x80) {
      write_ascii_escape(out, byte);
      text.remove_prefix(1);
    } else {
      text.remove_prefix(write_rune(out, text));
    }
  }
  out.put('"');
}

void write_string(JsonOutput& out, std::string_view text) {
  if (!write_short(out, '\0', text, '\0')) write_long(out, text);
}

// Writes `lead`, the name of a member, and a colon.
void write_member_name(JsonOutput& out, char lead, std::string_view name) {
  if (write_short(out, lead, name, ':')) return;
  out.put(lead);
  write_long(out, name);
  out.put(':');
}

// Writes trees. kKept: raw values are written as they were sent; otherwise they are written compact.
template <bool kKept>
class JsonWriter {
 public:
  explicit JsonWriter(std::string& out) noexcept : out_(out) {}
  // Ends the text. Returns true if the text contains a raw value that is not compact.
  bool finish() {
    out_.flush();
    return differs_;
  }

  void write(const Value& value) {
    switch (value.kind()) {
      case json::kind::null:
        return out_.put("null");
      case json::kind::bool_:
        return out_.put(value.get_bool() ? "true" : "false");
      case json::kind::int64:
        return write_integer(out_, value.get_int64());
      case json::kind::uint64:
        return write_integer(out_, value.get_uint64());
      case json::kind::double_:
        return append_double(out_.flush(), value.get_double());
      case json::kind::string:
        return write_string(out_, text_of(&value));
      case json::kind::array:
        return write(value.get_array());
      case json::kind::object:
        return write(value.get_object());
    }
  }

  void write(const Array& array) {
    if (is_raw_node(array)) return write_raw(text_of(&array[1]));
    out_.put('[');
    bool first = true;
    for (const Value& item : array) {
      if (!first) out_.put(',');
      first = false;
      write(item);
    }
    out_.put(']');
  }

  void write(const Object& object) {
    char lead = '{';
    for (const auto& member : object) {
      write_member_name(out_, std::exchange(lead, ','), member.key());
      write(member.value());
    }
    out_.put(object.empty() ? "{}" : "}");
  }

 private:
  void write_raw(std::string_view text) {
    std::string& out = out_.flush();
    const std::size_t begin = out.size();
    append_compact_json(out, text);
    if (!kKept || std::string_view(out).substr(begin) == text) return;
    differs_ = true;
    out.replace(begin, std::string::npos, text);
  }

  JsonOutput out_;
  bool differs_ = false;
};

template <bool kKept, class Tree>
bool write_tree(std::string& out, const Tree& tree) {
  JsonWriter<kKept> writer(out);
  writer.write(tree);
  return writer.finish();
}

// Boost.JSON does not index objects of up to this size either.
constexpr std::size_t kSmallObject = 18;

template <class AnyObject>
auto find_member(AnyObject& object, std::string_view key) noexcept -> decltype(object.if_contains(key)) {
  if (object.size() > kSmallObject) return object.if_contains(key);
  for (auto& member : object) {
    if (same_text(member.key(), key)) return &member.value();
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
  if (plain < text.size()) {
    JsonOutput output(out);
    write_long(output, text);
    output.flush();
    return;
  }
  const std::size_t at = out.size();
  out.resize(at + text.size() + 2);
  char* const to = out.data() + at;
  *to = '"';
  *copy_text(to + 1, text) = '"';
}

void append_json(std::string& out, const Value& value) { write_tree<false>(out, value); }
void append_json(std::string& out, const Array& array) { write_tree<false>(out, array); }
void append_json(std::string& out, const Object& object) { write_tree<false>(out, object); }

bool append_kept_json(std::string& out, const Value& value) { return write_tree<true>(out, value); }
bool append_kept_json(std::string& out, const Object& object) { return write_tree<true>(out, object); }

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
