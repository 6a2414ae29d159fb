// Numbers in network byte order.
//
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace backplane::core {

inline void append_number(std::string& out, std::uint32_t number) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>((number >> shift) & 0xff);
}

// Appends a text after its length.
inline void append_sized(std::string& out, std::string_view text) {
  append_number(out, static_cast<std::uint32_t>(text.size()));
  out.append(text);
}

// Reads the four bytes at `at`. Precondition: they exist.
inline std::uint32_t read_number(std::string_view bytes, std::size_t at) {
  std::uint32_t out = 0;
  for (std::size_t i = at; i < at + 4; ++i) out = (out << 8) | static_cast<unsigned char>(bytes[i]);
  return out;
}

}  // namespace backplane::core
