#include "base/printable.hpp"

namespace backplane {

std::pair<char32_t, std::size_t> next_rune(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  const std::size_t length = first < 0x80 ? 1 : first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC2 ? 2 : 0;
  if (length == 0 || length > text.size()) return {0xFFFD, 1};
  if (length == 1) return {first, 1};
  char32_t rune = first & (0xFF >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {0xFFFD, 1};
    rune = (rune << 6) | (byte(i) & 0x3F);
  }
  return {rune, length};
}

bool is_printable(char32_t rune) noexcept {
  if (rune < 0x20 || (rune >= 0x7F && rune <= 0xA0) || rune == 0xAD) return false;
  if ((rune >= 0x2000 && rune <= 0x200F) || (rune >= 0x2028 && rune <= 0x202F) || (rune >= 0x205F && rune <= 0x206F)) return false;
  return rune != 0x3000 && rune != 0xFEFF && !(rune >= 0xD800 && rune <= 0xF8FF) && rune < 0xF0000;
}

}  // namespace backplane
