#include "cel/address.hpp"

#include <charconv>
#include <cstring>

#include "cel/text.hpp"

namespace backplane::cel_detail {
namespace {

class AddressReader {
 public:
  AddressReader(std::string_view text, std::string& error) : text_(text), error_(error) {}

  bool read(IpVal& out, bool& has_zone) {
    const std::size_t mark = text_.find_first_of(".:%");
    if (mark == std::string_view::npos) return fail("unable to parse IP");
    if (text_[mark] == '%') return fail("missing IPv6 address");
    out.kind = OpaqueKind::kIp;
    if (text_[mark] == '.') {
      out.size = 4;
      return read_v4(text_, out.bytes.data());
    }
    out.size = 16;
    return read_v6(out, has_zone);
  }

 private:
  bool fail(std::string_view message) {
    error_ = "ParseAddr(" + quoted(text_) + "): " + std::string(message);
    return false;
  }
  bool fail_at(std::string_view message, std::string_view at) {
    fail(message);
    if (!at.empty()) error_ += " (at " + quoted(at) + ")";
    return false;
  }

  bool read_v4(std::string_view text, unsigned char* out) {
    int value = 0, digits = 0;
    std::size_t field = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      if (c >= '0' && c <= '9') {
        if (digits == 1 && value == 0) return fail("IPv4 field has octet with leading zero");
        value = value * 10 + (c - '0');
        ++digits;
        if (value > 255) return fail("IPv4 field has value >255");
      } else if (c == '.') {
        if (i == 0 || i == text.size() - 1 || text[i - 1] == '.') return fail_at("IPv4 field must have at least one digit", text.substr(i));
        if (field == 3) return fail("IPv4 address too long");
        out[field++] = static_cast<unsigned char>(value);
        value = digits = 0;
      } else {
        return fail_at("unexpected character", text.substr(i));
      }
    }
    if (field < 3) return fail("IPv4 address too short");
    out[3] = static_cast<unsigned char>(value);
    return true;
  }

  static int hex(char c) noexcept {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
  }

  bool read_v6(IpVal& out, bool& has_zone) {
    std::string_view rest = text_;
    if (const std::size_t zone = text_.find('%'); zone != std::string_view::npos) {
      if (zone + 1 == text_.size()) return fail("zone must be a non-empty string");
      has_zone = true;
      rest = text_.substr(0, zone);
    }
    constexpr std::size_t kNone = 99;
    std::size_t gap = kNone, at = 0;
    if (rest.starts_with("::")) {
      gap = 0;
      rest.remove_prefix(2);
      if (rest.empty()) return true;
    }
    while (at < 16) {
      std::size_t digits = 0;
      unsigned value = 0;
      for (; digits < rest.size() && hex(rest[digits]) >= 0; ++digits) {
        if (digits > 3) return fail_at("each group must have 4 or less digits", rest);
        value = value << 4 | static_cast<unsigned>(hex(rest[digits]));
      }
      if (digits == 0) return fail_at("each colon-separated field must have at least one digit", rest);
      if (digits < rest.size() && rest[digits] == '.') {
        if (gap == kNone && at != 12) return fail_at("embedded IPv4 address must replace the final 2 fields of the address", rest);
        if (at + 4 > 16) return fail_at("too many hex fields to fit an embedded IPv4 at the end of the address", rest);
        if (!read_v4(rest, out.bytes.data() + at)) return false;
        rest = {};
        at += 4;
        break;
      }
      out.bytes[at++] = static_cast<unsigned char>(value >> 8);
      out.bytes[at++] = static_cast<unsigned char>(value);
      rest.remove_prefix(digits);
      if (rest.empty()) break;
      if (rest[0] != ':') return fail_at("unexpected character, want colon", rest);
      if (rest.size() == 1) return fail_at("colon must be followed by more characters", rest);
      rest.remove_prefix(1);
      if (rest[0] == ':') {
        if (gap != kNone) return fail_at("multiple :: in address", rest);
        gap = at;
        rest.remove_prefix(1);
        if (rest.empty()) break;
      }
    }
    if (!rest.empty()) return fail_at("trailing garbage after address", rest);
    if (at == 16) return gap == kNone || fail("the :: must expand to at least one field of zeros");
    if (gap == kNone) return fail("address string too short");
    std::memmove(out.bytes.data() + 16 - (at - gap), out.bytes.data() + gap, at - gap);
    std::memset(out.bytes.data() + gap, 0, 16 - at);
    return true;
  }

  std::string_view text_;
  std::string& error_;
};

}  // namespace

bool parse_address(std::string_view text, IpVal& out, bool& has_zone, std::string& error) {
  out = {};
  has_zone = false;
  return AddressReader(text, error).read(out, has_zone);
}

bool parse_prefix(std::string_view text, CidrVal& out, std::string& error) {
  out = {};
  out.kind = OpaqueKind::kCidr;
  const auto fail = [&](std::string_view message) {
    error = "netip.ParsePrefix(" + quoted(text) + "): " + std::string(message);
    return false;
  };
  const std::size_t slash = text.rfind('/');
  if (slash == std::string_view::npos) return fail("no '/'");
  std::string problem;
  bool has_zone = false;
  if (!parse_address(text.substr(0, slash), out.address, has_zone, problem)) return fail(problem);
  if (has_zone) return fail("IPv6 zones cannot be present in a prefix");
  const std::string_view bits = text.substr(slash + 1);
  int number = 0;
  const auto [end, code] = std::from_chars(bits.data(), bits.data() + bits.size(), number);
  const bool canonical = bits.size() == 1 || (!bits.empty() && bits[0] >= '1' && bits[0] <= '9');
  if (!canonical || code == std::errc::invalid_argument || end != bits.data() + bits.size() || code == std::errc::result_out_of_range)
    return fail("bad bits after slash: " + quoted(bits));
  if (number < 0 || number > static_cast<int>(out.address.size) * 8) return fail("prefix length out of range");
  out.bits = static_cast<unsigned>(number);
  return true;
}

bool is_mapped_v4(const IpVal& address) noexcept {
  constexpr unsigned char kPrefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
  return address.size == 16 && std::memcmp(address.bytes.data(), kPrefix, sizeof kPrefix) == 0;
}

IpVal masked_address(const IpVal& address, unsigned bits) noexcept {
  IpVal out = address;
  for (unsigned i = 0; i < address.size; ++i) {
    const unsigned kept = bits > i * 8 ? bits - i * 8 : 0;
    if (kept < 8) out.bytes[i] = static_cast<unsigned char>(out.bytes[i] & static_cast<unsigned char>(0xFF00u >> kept));
  }
  return out;
}

std::string ip_text(const IpVal& address) {
  std::string out;
  if (address.size == 4) {
    for (unsigned i = 0; i < 4; ++i) out += (i == 0 ? "" : ".") + std::to_string(address.bytes[i]);
    return out;
  }
  unsigned groups[8];
  for (unsigned i = 0; i < 8; ++i) groups[i] = static_cast<unsigned>(address.bytes[i * 2]) << 8 | address.bytes[i * 2 + 1];
  // The longest run of at least two zero groups is left out.
  unsigned begin = 8, length = 1;
  for (unsigned i = 0; i < 8; ++i) {
    unsigned end = i;
    while (end < 8 && groups[end] == 0) ++end;
    if (end - i > length) {
      begin = i;
      length = end - i;
    }
  }
  for (unsigned i = 0; i < 8; ++i) {
    if (i == begin) {
      out.append("::");
      i += length;
      if (i >= 8) break;
    } else if (i > 0) {
      out.push_back(':');
    }
    char digits[8];
    out.append(digits, std::to_chars(digits, digits + sizeof digits, groups[i], 16).ptr);
  }
  return out;
}

}  // namespace backplane::cel_detail
