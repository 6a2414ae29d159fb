#include "gc/uid.hpp"

#include <functional>

namespace backplane::controllers::gc {
namespace {

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

// Reads hexadecimal digits in lower case. If `hyphens`, there must be hyphens at the positions of a UUID.
bool parse_digits(std::string_view text, bool hyphens, Uid& out) {
  if (text.size() != (hyphens ? 36U : 32U)) return false;
  std::size_t digit = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (hyphens && (i == 8 || i == 13 || i == 18 || i == 23)) {
      if (text[i] != '-') return false;
      continue;
    }
    const int value = hex_value(text[i]);
    if (value < 0) return false;
    std::uint8_t& byte = out.bytes[digit / 2];
    byte = static_cast<std::uint8_t>(digit % 2 == 0 ? value << 4 : byte | value);
    ++digit;
  }
  return true;
}

}  // namespace

Uid Uid::of(std::string_view text) {
  Uid out;
  if (parse_digits(text, true, out)) return out;
  const std::size_t first = std::hash<std::string_view>()(text);
  const std::size_t second = std::hash<std::string>()(std::string(text) + "\n");
  std::memcpy(out.bytes.data(), &first, sizeof first);
  std::memcpy(out.bytes.data() + sizeof first, &second, sizeof second);
  return out;
}

std::string Uid::hex() const {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  out.reserve(bytes.size() * 2);
  for (const std::uint8_t byte : bytes) {
    out.push_back(kDigits[byte >> 4]);
    out.push_back(kDigits[byte & 15]);
  }
  return out;
}

Uid Uid::from_hex(std::string_view hex) {
  Uid out;
  parse_digits(hex, false, out);
  return out;
}

}  // namespace backplane::controllers::gc
