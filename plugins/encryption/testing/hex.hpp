// Converts the hexadecimal digits of test vectors to bytes.
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>

namespace backplane::encryption::test {

inline std::string from_hex(std::string_view text) {
  std::string out;
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) out += static_cast<char>(digit(text[i]) * 16 + digit(text[i + 1]));
  return out;
}

}  // namespace backplane::encryption::test
