// One UTF-8 code point at a time, as Go's utf8.DecodeRune reads it.
//
// Thread-safety: pure function.
#pragma once

#include <cstdint>
#include <string_view>

namespace backplane {

struct Rune {
  char32_t code;
  unsigned size;  // bytes taken; 1 for a byte that is not UTF-8
  bool valid;
};

// Precondition: `text` is not empty.
inline Rune decode_rune(std::string_view text) noexcept {
  auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  auto follows = [&](std::size_t i) { return i < text.size() && (byte(i) & 0xC0) == 0x80; };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  if (lead >= 0xC2 && lead < 0xE0 && follows(1)) return {char32_t(lead & 0x1F) << 6 | (byte(1) & 0x3Fu), 2, true};
  if (lead >= 0xE0 && lead < 0xF0 && follows(1) && follows(2)) {
    const char32_t code = char32_t(lead & 0x0F) << 12 | char32_t(byte(1) & 0x3F) << 6 | (byte(2) & 0x3Fu);
    if (code >= 0x800 && (code < 0xD800 || code > 0xDFFF)) return {code, 3, true};
  }
  if (lead >= 0xF0 && lead < 0xF5 && follows(1) && follows(2) && follows(3)) {
    const char32_t code = char32_t(lead & 0x07) << 18 | char32_t(byte(1) & 0x3F) << 12 | char32_t(byte(2) & 0x3F) << 6 | (byte(3) & 0x3Fu);
    if (code >= 0x10000 && code <= 0x10FFFF) return {code, 4, true};
  }
  return {0xFFFD, 1, false};
}

}  // namespace backplane
