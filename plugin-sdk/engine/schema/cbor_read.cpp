// CBOR into trees, with the choices of upstream's decoder.
//
// No library of Debian can be used: nlohmann-json does not support byte strings as keys, which upstream writes, and libcbor refuses tags
// that upstream ignores.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "backplane/core/json.hpp"
#include "engine/cbor.hpp"
#include "text/base64.hpp"
#include "text/go_time.hpp"
#include "text/utf8.hpp"

namespace backplane::schema {
namespace {

enum Major : unsigned char { kUnsigned, kNegative, kBytes, kText, kArray, kMap, kTag, kPrimitive };
constexpr std::array<std::string_view, 8> kMajorNames = {
    "positive integer", "negative integer", "byte string", "UTF-8 text string", "array", "map", "tag", "primitives"};
constexpr unsigned char kIndefinite = 31;
constexpr unsigned char kBreak = 0xFF;
constexpr std::size_t kMaxMapPairs = 2097152;
constexpr std::uint64_t kMaxSigned = INT64_MAX;

struct Head {
  Major major = kUnsigned;
  unsigned char info = 0;
  std::uint64_t argument = 0;

  bool indefinite() const noexcept { return info == kIndefinite; }
};

double half(std::uint64_t bits) noexcept {
  const int exponent = static_cast<int>(bits >> 10 & 0x1F);
  const int mantissa = static_cast<int>(bits & 0x3FF);
  double value = exponent == 0    ? std::ldexp(mantissa, -24)
                 : exponent != 31 ? std::ldexp(mantissa + 1024, exponent - 25)
                 : mantissa == 0  ? INFINITY
                                  : NAN;
  return (bits & 0x8000) != 0 ? -value : value;
}

double real_of(const Head& head) noexcept {
  if (head.info == 25) return half(head.argument);
  if (head.info == 26) {
    const auto bits = static_cast<std::uint32_t>(head.argument);
    float value = 0;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
  double value = 0;
  std::memcpy(&value, &head.argument, sizeof value);
  return value;
}

std::string name_of(Major major) { return std::string(kMajorNames[major]); }
std::string unacceptable(Major major, std::string_view why) {
  return "cbor: data item of cbor type " + name_of(major) + " is not accepted by protocol: " + std::string(why);
}
std::string unexpected_end() { return "unexpected EOF"; }

// Reads heads of items one after another.
class Heads {
 public:
  explicit Heads(std::string_view bytes) noexcept : bytes_(bytes) {}

  bool ended() const noexcept { return at_ >= bytes_.size(); }
  std::size_t at() const noexcept { return at_; }
  std::size_t left() const noexcept { return bytes_.size() - at_; }
  unsigned char peek() const noexcept { return static_cast<unsigned char>(bytes_[at_]); }
  Major peek_major() const noexcept { return static_cast<Major>(peek() >> 5); }
  void skip(std::size_t size) noexcept { at_ += size; }
  std::string_view take(std::size_t size) noexcept {
    const std::string_view out = bytes_.substr(at_, size);
    at_ += size;
    return out;
  }
  // Whether the open container ends here; its end is then consumed.
  bool take_break() noexcept {
    if (ended() || peek() != kBreak) return false;
    ++at_;
    return true;
  }
  // The next head.  If the input ends in it, the missing bytes are zero and ended() is true.
  Head next() noexcept {
    Head head;
    head.major = peek_major();
    head.info = peek() & 0x1F;
    ++at_;
    head.argument = head.info;
    if (head.info < 24 || head.info > 27) return head;
    const std::size_t size = std::size_t{1} << (head.info - 24);
    head.argument = 0;
    for (std::size_t i = 0; i < size; ++i, ++at_) {
      head.argument = head.argument << 8 | (at_ < bytes_.size() ? static_cast<unsigned char>(bytes_[at_]) : 0);
    }
    return head;
  }
  bool overrun() const noexcept { return at_ > bytes_.size(); }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
};

// Checks, before decoding, that the text is one well-formed item within the limits, in upstream's order.
class WellFormed {
 public:
  explicit WellFormed(std::string_view bytes) noexcept : heads_(bytes) {}

  // The problem; empty: none.
  std::string check() {
    if (heads_.ended()) return "EOF";
    if (item(0) && heads_.left() != 0) {
      fail("cbor: " + std::to_string(heads_.left()) + " bytes of extraneous data starting at index " + std::to_string(heads_.at()));
    }
    return std::move(problem_);
  }

 private:
  bool fail(std::string why) {
    problem_ = std::move(why);
    return false;
  }

  bool head(Head& out) {
    if (heads_.ended()) return fail(unexpected_end());
    out = heads_.next();
    if (heads_.overrun()) return fail(unexpected_end());
    const std::string info = std::to_string(out.info);
    if (out.info >= 28 && out.info < kIndefinite) {
      return fail("cbor: invalid additional information " + info + " for type " + name_of(out.major));
    }
    if (out.info == kIndefinite && (out.major <= kNegative || out.major == kTag)) {
      return fail("cbor: invalid additional information " + info + " for type " + name_of(out.major));
    }
    return out.major != kPrimitive || primitive(out);
  }

  bool primitive(const Head& head) {
    if (head.info == kIndefinite) return fail("cbor: unexpected \"break\" code");
    if (head.info == 24 && head.argument < 32) {
      return fail("cbor: invalid simple value " + std::to_string(head.argument) + " for type primitives");
    }
    if (head.info < 25) return true;
    const double value = real_of(head);
    if (std::isnan(value)) return fail(unacceptable(kPrimitive, "floating-point NaN"));
    return !std::isinf(value) || fail(unacceptable(kPrimitive, "floating-point infinity"));
  }

  bool item(std::size_t depth) {
    Head it;
    if (!head(it)) return false;
    switch (it.major) {
      case kBytes:
      case kText:
        return it.indefinite() ? chunks(it.major) : content(it);
      case kArray:
      case kMap:
        if (++depth > kMaxJsonDepth) return too_deep();
        return it.indefinite() ? open_items(it.major, depth) : items(it, depth);
      case kTag:
        return tagged(it, depth);
      default:
        return true;
    }
  }

  bool too_deep() { return fail("cbor: exceeded max nested level " + std::to_string(kMaxJsonDepth)); }

  bool content(const Head& head) {
    if (head.argument > kMaxSigned) {
      return fail("cbor: " + name_of(head.major) + " length " + std::to_string(head.argument) + " is too large, causing integer overflow");
    }
    if (heads_.left() < head.argument) return fail(unexpected_end());
    heads_.skip(head.argument);
    return true;
  }

  bool chunks(Major major) {
    while (!heads_.take_break()) {
      if (heads_.ended()) return fail(unexpected_end());
      const Major found = heads_.peek_major();
      if (found != major) return fail("cbor: wrong element type " + name_of(found) + " for indefinite-length " + name_of(major));
      Head chunk;
      if (!head(chunk)) return false;
      if (chunk.indefinite()) return fail("cbor: indefinite-length " + name_of(major) + " chunk is not definite-length");
      if (!content(chunk)) return false;
    }
    return true;
  }

  bool items(const Head& head, std::size_t depth) {
    if (head.argument > kMaxSigned) {
      return fail("cbor: " + name_of(head.major) + " length " + std::to_string(head.argument) +
                  " is too large, it would cause integer overflow");
    }
    if (head.major == kArray && head.argument > INT32_MAX) {
      return fail("cbor: exceeded max number of elements " + std::to_string(INT32_MAX) + " for CBOR array");
    }
    if (head.major == kMap && head.argument > kMaxMapPairs) return too_many_pairs();
    for (std::uint64_t i = 0; i < head.argument * (head.major == kMap ? 2 : 1); ++i) {
      if (!item(depth)) return false;
    }
    return true;
  }

  bool too_many_pairs() { return fail("cbor: exceeded max number of key-value pairs " + std::to_string(kMaxMapPairs) + " for CBOR map"); }

  bool open_items(Major major, std::size_t depth) {
    std::size_t count = 0;
    for (; !heads_.take_break(); ++count) {
      if (heads_.ended()) return fail(unexpected_end());
      if (!item(depth)) return false;
      if (major == kMap && count / 2 > kMaxMapPairs) return too_many_pairs();
    }
    return major == kArray || count % 2 == 0 || fail("cbor: unexpected \"break\" code");
  }

  // Nested tags are read in a loop, and count as levels.
  bool tagged(Head tag, std::size_t depth) {
    for (;;) {
      if (heads_.ended()) return fail(unexpected_end());
      if (tag.argument == 2 || tag.argument == 3) return fail(unacceptable(kTag, "bignum"));
      if (heads_.peek_major() != kTag) return item(depth);
      if (!head(tag)) return false;
      if (++depth > kMaxJsonDepth) return too_deep();
    }
  }

  Heads heads_;
  std::string problem_;
};

constexpr std::uint64_t kTextTime = 0, kEpochTime = 1, kBase64Url = 21, kBase64 = 22, kBase16 = 23;

std::string base16(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (const char byte : bytes) {
    out.push_back(kDigits[static_cast<unsigned char>(byte) >> 4]);
    out.push_back(kDigits[static_cast<unsigned char>(byte) & 15]);
  }
  return out;
}

std::string base64_url(std::string_view bytes) {
  std::string out = encode_base64(bytes);
  out.resize(std::min(out.size(), out.find('=')));
  std::replace(out.begin(), out.end(), '+', '-');
  std::replace(out.begin(), out.end(), '/', '_');
  return out;
}

// Builds the tree of well-formed bytes.
class TreeReader {
 public:
  TreeReader(std::string_view bytes, json::storage_ptr storage) noexcept : heads_(bytes), storage_(std::move(storage)) {}

  // False: problem() has the reason.
  bool read(Value& out) {
    const std::uint64_t outer = later_;
    Head head = heads_.next();
    while (head.major == kTag && head.argument != kTextTime && head.argument != kEpochTime) {
      if (head.argument >= kBase64Url && head.argument <= kBase16) later_ = head.argument;
      head = heads_.next();
    }
    const bool good = item(head, out);
    later_ = outer;
    return good;
  }
  std::string& problem() noexcept { return problem_; }

 private:
  bool fail(std::string why) {
    problem_ = std::move(why);
    return false;
  }

  bool item(const Head& head, Value& out) {
    switch (head.major) {
      case kUnsigned:
      case kNegative:
        return integer(head, out);
      case kBytes:
      case kText:
        return text(head, out);
      case kArray:
        return array(head, out);
      case kMap:
        return map(head, out);
      case kTag:
        return head.argument == kTextTime ? text_time(out) : epoch_time(out);
      case kPrimitive:
        break;
    }
    return primitive(head, out);
  }

  bool integer(const Head& head, Value& out) {
    if (head.argument <= kMaxSigned) {
      const auto number = static_cast<std::int64_t>(head.argument);
      out = head.major == kUnsigned ? number : -1 - number;
      return true;
    }
    const bool negative = head.major == kNegative;
    std::string number = "18446744073709551616";
    if (!negative || head.argument != UINT64_MAX) number = std::to_string(head.argument + (negative ? 1 : 0));
    return fail("cbor: cannot unmarshal " + name_of(head.major) + " into Go value of type int64 (" + (negative ? "-" : "") + number +
                " overflows Go's int64)");
  }

  bool primitive(const Head& head, Value& out) {
    if (head.info == 20 || head.info == 21) {
      out = head.info == 21;
    } else if (head.info == 22) {
      out = nullptr;
    } else if (head.info >= 25) {
      out = real_of(head);
    } else {
      return fail(unacceptable(kPrimitive, "simple value " + std::to_string(head.argument) + " is not recognized"));
    }
    return true;
  }

  // The bytes of a string; chunks are joined in `joined`.
  std::string_view content(const Head& head, std::string& joined) {
    if (!head.indefinite()) return heads_.take(head.argument);
    while (!heads_.take_break()) {
      const Head chunk = heads_.next();
      joined.append(heads_.take(chunk.argument));
    }
    return joined;
  }

  bool text(const Head& head, Value& out) {
    std::string joined;
    const std::string_view bytes = content(head, joined);
    if (head.major == kText) return put_text(bytes, true, out);
    if (later_ == kBase64Url) return put_text(base64_url(bytes), true, out);
    if (later_ == kBase64) return put_text(encode_base64(bytes), true, out);
    if (later_ == kBase16) return put_text(base16(bytes), true, out);
    return put_text(bytes, false, out);
  }

  // Byte strings need not be UTF-8; invalid bytes are replaced as in JSON encoding.
  bool put_text(std::string_view bytes, bool strict, Value& out) {
    json::string& text = out.emplace_string();
    std::size_t good = 0;
    for (std::size_t at = 0; at < bytes.size();) {
      if (static_cast<unsigned char>(bytes[at]) < 0x80) {
        ++at;
        continue;
      }
      const Rune rune = decode_rune(bytes.substr(at));
      at += rune.size;
      if (rune.valid) continue;
      if (strict) return fail("cbor: invalid UTF-8 string");
      text.append(bytes.substr(good, at - rune.size - good));
      text.append("\xEF\xBF\xBD");
      good = at;
    }
    text.append(bytes.substr(good));
    return true;
  }

  bool array(const Head& head, Value& out) {
    Array& items = out.emplace_array();
    if (!head.indefinite()) items.reserve(head.argument);
    for (std::uint64_t i = 0; head.indefinite() ? !heads_.take_break() : i < head.argument; ++i) {
      if (!read(items.emplace_back(nullptr))) return false;
    }
    return true;
  }

  bool map(const Head& head, Value& out) {
    Object& object = out.emplace_object();
    if (!head.indefinite()) object.reserve(head.argument);
    Value key(storage_);
    for (std::uint64_t i = 0; head.indefinite() ? !heads_.take_break() : i < head.argument; ++i) {
      const Major major = heads_.peek_major();
      if (!read(key)) return false;
      if (!key.is_string()) return fail("cbor: cannot unmarshal " + name_of(major) + " into Go value of type string");
      const auto [member, fresh] = object.emplace(key.get_string(), nullptr);
      if (!fresh) {
        return fail("cbor: found duplicate map key " + to_json(key) + " at map element index " + std::to_string(i));
      }
      if (!read(member->value())) return false;
    }
    return true;
  }

  bool no_time(Major major) { return fail("cbor: cannot unmarshal " + name_of(major) + " into Go value of type time.Time"); }

  bool text_time(Value& out) {
    const Major major = heads_.peek_major();
    if (major != kBytes && major != kText) return no_time(major);
    if (!text(heads_.next(), out)) return false;
    std::string error;
    const std::string_view given(out.get_string().data(), out.get_string().size());
    if (parse_go_time(given, false, error)) return true;
    const std::string shown = major == kBytes ? to_json(out) : std::string(given);
    return fail("cbor: cannot set " + shown + " for time.Time: " + error);
  }

  bool epoch_time(Value& out) {
    constexpr double kYear10000 = 253402300800.0, kYear0 = -62167219200.0;
    const Major major = heads_.peek_major();
    Value number;
    if (major == kTag || (major != kUnsigned && major != kNegative && major != kPrimitive)) return no_time(major);
    if (!read(number)) return false;
    if (!number.is_number()) return no_time(major);
    const double seconds = number.to_number<double>();
    if (seconds >= kYear10000 || seconds < kYear0) {
      return fail(
          "cbor: decoded time cannot be represented in RFC3339 format with sub-second precision: Time.MarshalText: year outside "
          "of range [0,9999]");
    }
    GoTime time{static_cast<std::int64_t>(std::floor(seconds)), 0};
    time.nanos = number.is_double() ? static_cast<std::int32_t>((seconds - std::floor(seconds)) * 1e9) : 0;
    out.emplace_string().assign(with_nanos(print_go_time(time, false), time.nanos));
    return true;
  }

  // "2013-03-21T20:04:00Z" with an optional fraction.
  static std::string with_nanos(std::string text, std::int32_t nanos) {
    if (nanos == 0) return text;
    std::string digits = std::to_string(1000000000 + nanos).substr(1);
    digits.resize(digits.find_last_not_of('0') + 1);
    return text.insert(text.size() - 1, "." + digits);
  }

  Heads heads_;
  json::storage_ptr storage_;
  std::uint64_t later_ = 0;  // expected text encoding of byte strings: the innermost such tag
  std::string problem_;
};

}  // namespace
}  // namespace backplane::schema

namespace backplane BACKPLANE_API {

Result<Value> parse_cbor(std::string_view bytes, json::storage_ptr storage) {
  std::string problem = schema::WellFormed(bytes).check();
  if (!problem.empty()) return bad_request(std::move(problem));
  Value tree(storage);
  schema::TreeReader reader(bytes, storage);
  if (!reader.read(tree)) return bad_request(std::move(reader.problem()));
  return tree;
}

}  // namespace BACKPLANE_API
