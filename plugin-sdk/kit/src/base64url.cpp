#include "backplane/kit/base64url.hpp"

#include <array>
#include <cstdint>

namespace backplane BACKPLANE_API {
namespace kit BACKPLANE_API {
namespace {

constexpr std::string_view kUrlDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::uint8_t kNoUrlDigit = 0xFF;

constexpr std::array<std::uint8_t, 256> url_digit_values() {
  std::array<std::uint8_t, 256> out{};
  out.fill(kNoUrlDigit);
  for (std::size_t i = 0; i < kUrlDigits.size(); ++i) out[static_cast<unsigned char>(kUrlDigits[i])] = static_cast<std::uint8_t>(i);
  return out;
}

}  // namespace

std::string to_base64url(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() * 4 + 2) / 3);
  std::uint32_t buffer = 0;
  unsigned bits = 0;
  for (const char c : bytes) {
    buffer = buffer << 8 | static_cast<unsigned char>(c);
    for (bits += 8; bits >= 6; bits -= 6) out.push_back(kUrlDigits[buffer >> (bits - 6) & 63]);
  }
  if (bits > 0) out.push_back(kUrlDigits[buffer << (6 - bits) & 63]);
  return out;
}

std::optional<std::string> from_base64url(std::string_view text) {
  static constexpr auto kValues = url_digit_values();
  if (text.size() % 4 == 1) return std::nullopt;
  std::string out;
  out.reserve(text.size() * 3 / 4);
  std::uint32_t buffer = 0;
  unsigned bits = 0;
  for (const char c : text) {
    const std::uint8_t value = kValues[static_cast<unsigned char>(c)];
    if (value == kNoUrlDigit) return std::nullopt;
    buffer = buffer << 6 | value;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    out.push_back(static_cast<char>(buffer >> bits & 0xFF));
  }
  return out;
}

}  // namespace BACKPLANE_API
}  // namespace BACKPLANE_API
