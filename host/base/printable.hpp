// Code points of UTF-8 text, and which of them Go prints.
//
// Thread-safety: pure functions.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

namespace backplane {

// The first code point of a text that is not empty, and its length; a malformed byte is U+FFFD of length 1.
std::pair<char32_t, std::size_t> next_rune(std::string_view text) noexcept;

// unicode.IsPrint for what headers and shells can produce: controls, separators but the plain space, and surrogates are not.
bool is_printable(char32_t rune) noexcept;

}  // namespace backplane
