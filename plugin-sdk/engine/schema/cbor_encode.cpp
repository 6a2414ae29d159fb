#include "schema/cbor_encode.hpp"

#include <charconv>
#include <cmath>
#include <cstring>

#include "backplane/types/json_reading.hpp"
#include "schema/json_tape.hpp"
#include "schema/type.hpp"
#include "text/base64.hpp"

namespace backplane::schema {
namespace {

using Token = JsonTape::Token;

enum Major : unsigned char { kUnsigned = 0x00, kNegative = 0x20, kByteString = 0x40, kArrayHead = 0x80, kMapHead = 0xA0 };
constexpr char kBase64Tag = '\xD6';
constexpr char kFalse = '\xF4', kTrue = '\xF5', kNull = '\xF6';

void append_big_endian(std::string& out, std::uint64_t value, int bytes) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) out.push_back(static_cast<char>(value >> shift));
}

void append_head(std::string& out, Major major, std::uint64_t argument) {
  if (argument < 24) {
    out.push_back(static_cast<char>(major | argument));
    return;
  }
  const int size = argument <= UINT8_MAX ? 0 : argument <= UINT16_MAX ? 1 : argument <= UINT32_MAX ? 2 : 3;
  out.push_back(static_cast<char>(major | (24 + size)));
  append_big_endian(out, argument, 1 << size);
}

// The bits of a float in half the size; nullopt if the value would change.
bool half_bits(float value, std::uint16_t& half) noexcept {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000);
  const int exponent = static_cast<int>(bits >> 23 & 0xFF) - 127;
  const std::uint32_t mantissa = bits & 0x7FFFFF;
  if ((bits & 0x7FFFFFFF) == 0) {
    half = sign;
    return true;
  }
  if (exponent >= -14 && exponent <= 15 && (mantissa & 0x1FFF) == 0) {
    half = static_cast<std::uint16_t>(sign | (exponent + 15) << 10 | mantissa >> 13);
    return true;
  }
  // A subnormal number: all set bits of the mantissa must fit into the remaining ones.
  const int lost = -1 - exponent;
  if (exponent >= -14 || exponent < -24) return false;
  const std::uint32_t whole = mantissa | 0x800000;
  if ((whole & ((1u << lost) - 1)) != 0) return false;
  half = static_cast<std::uint16_t>(sign | whole >> lost);
  return true;
}

void append_real(std::string& out, double value) {
  const auto single = static_cast<float>(value);
  std::uint16_t half = 0;
  if (static_cast<double>(single) != value) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    out.push_back('\xFB');
    append_big_endian(out, bits, 8);
  } else if (half_bits(single, half)) {
    out.push_back('\xF9');
    append_big_endian(out, half, 2);
  } else {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &single, sizeof bits);
    out.push_back('\xFA');
    append_big_endian(out, bits, 4);
  }
}

class CborEncoder {
 public:
  explicit CborEncoder(std::string& out) : out_(out) {}

  bool encode(const Type* type, std::string_view json) {
    if (json.size() >= UINT32_MAX || !tape_.build(json)) return false;
    value(type, tape_[0]);
    tape_.trim();
    return ok_;
  }

 private:
  bool expect(bool fits) {
    ok_ = ok_ && fits;
    return fits;
  }

  std::uint32_t first_in(const Token& container) const { return static_cast<std::uint32_t>(&container - &tape_[0]) + 1; }

  void value(const Type* type, const Token& token) {
    if (token.kind == '{') return object(type, token);
    if (token.kind == '[') return array(type, token);
    if (token.kind == '"') return text(type != nullptr && type->form() == Form::kBytes, token);
    const std::string_view word = tape_.text(token);
    if (word == "null") return out_.push_back(kNull);
    if (word == "true") return out_.push_back(kTrue);
    if (word == "false") return out_.push_back(kFalse);
    number(type != nullptr && type->form() == Form::kDouble, word);
  }

  // The type of the member `key` of an object of type `holder`.
  static const Type* member_type(const Type& holder, std::string_view key, std::size_t& next) {
    const Body& body = holder.body();
    if (holder.form() == Form::kMap) return body.items;
    const int found = body.find(key, next);
    if (found < 0) return nullptr;
    next = static_cast<std::size_t>(found) + 1;
    return body.properties[static_cast<std::size_t>(found)].type;
  }

  void object(const Type* type, const Token& token) {
    if (type != nullptr && type->form() == Form::kShape) type = type->body().object_shape;
    if (type != nullptr && type->form() != Form::kStruct && type->form() != Form::kMap) type = nullptr;
    std::uint64_t members = 0;
    for (std::uint32_t at = first_in(token); at < token.next; at = tape_[at + 1].next) ++members;
    append_head(out_, kMapHead, members);
    std::size_t next = 0;
    for (std::uint32_t at = first_in(token); at < token.next; at = tape_[at + 1].next) {
      if (!expect(tape_[at].kind == '"')) return;
      text(false, tape_[at]);
      value(type == nullptr ? nullptr : member_type(*type, tape_.text(tape_[at]), next), tape_[at + 1]);
    }
  }

  void array(const Type* type, const Token& token) {
    if (type != nullptr && type->form() == Form::kShape) type = type->body().array_shape;
    const Type* const items = type != nullptr && type->form() == Form::kList ? type->body().items : nullptr;
    std::uint64_t count = 0;
    for (std::uint32_t at = first_in(token); at < token.next; at = tape_[at].next) ++count;
    append_head(out_, kArrayHead, count);
    for (std::uint32_t at = first_in(token); at < token.next; at = tape_[at].next) value(items, tape_[at]);
  }

  void text(bool bytes, const Token& token) {
    std::string_view content = tape_.text(token);
    if (token.escaped || bytes) {
      scratch_.clear();
      if (bytes) {
        if (!expect(!token.escaped && !decode_go_base64(content, scratch_))) return;
        out_.push_back(kBase64Tag);
      } else {
        append_json_unescaped(scratch_, content);
      }
      content = scratch_;
    }
    append_head(out_, kByteString, content.size());
    out_.append(content);
  }

  void number(bool real, std::string_view word) {
    const char* const end = word.data() + word.size();
    std::int64_t whole = 0;
    if (!real && word != "-0") {  // -0 exists only as a float
      const auto [stopped, error] = std::from_chars(word.data(), end, whole);
      if (error == std::errc() && stopped == end) return append_cbor_integer(out_, whole);
    }
    double value = 0;
    const auto [stopped, error] = std::from_chars(word.data(), end, value);
    if (expect(error == std::errc() && stopped == end && std::isfinite(value))) append_real(out_, value);
  }

  std::string& out_;
  bool ok_ = true;
  std::string scratch_;
  static thread_local JsonTape tape_;
};

thread_local JsonTape CborEncoder::tape_;

}  // namespace

void append_cbor_map(std::string& out, std::uint64_t members) { append_head(out, kMapHead, members); }
void append_cbor_array(std::string& out, std::uint64_t items) { append_head(out, kArrayHead, items); }
void append_cbor_integer(std::string& out, std::int64_t number) {
  const bool negative = number < 0;
  append_head(out, negative ? kNegative : kUnsigned, static_cast<std::uint64_t>(negative ? -1 - number : number));
}
void append_cbor_text(std::string& out, std::string_view text) {
  append_head(out, kByteString, text.size());
  out.append(text);
}

bool encode_cbor(const Schema* schema, std::string_view json, std::string& out) {
  const bool typed = schema != nullptr && !schema->structural();
  const std::size_t begin = out.size();
  if (CborEncoder(out).encode(typed && schema != nullptr ? schema->compiled() : nullptr, json)) return true;
  out.resize(begin);
  return false;
}

}  // namespace backplane::schema
