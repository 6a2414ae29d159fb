// Code points of UTF-8 text, and which of them Go prints.
//
// Thread-safety: pure functions.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

namespace backplane {

// The first code point of `text`, which must not be empty, and its length in bytes. A malformed byte is U+FFFD of length 1.
std::pair<char32_t, std::size_t> next_rune(std::string_view text) noexcept;

// Go's unicode.IsPrint for code points that occur in headers and shells: false for control characters, for separators except the space, and
// for surrogates.
bool is_printable(char32_t rune) noexcept;

}  // namespace backplane
