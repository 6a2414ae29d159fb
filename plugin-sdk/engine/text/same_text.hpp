// Compares short texts, such as member names, without calling memcmp.
//
// Thread-safety: a pure function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace backplane {
namespace detail {

template <class Word>
Word word_at(const char* text) noexcept {
  Word word;
  std::memcpy(&word, text, sizeof word);
  return word;
}

}  // namespace detail

inline bool same_text(std::string_view a, std::string_view b) noexcept {
  using detail::word_at;
  if (a.size() != b.size()) return false;
  const std::size_t size = a.size();
  const char *left = a.data(), *right = b.data();
  if (size >= 8) {
    for (std::size_t at = 0; at + 8 < size; at += 8) {
      if (word_at<std::uint64_t>(left + at) != word_at<std::uint64_t>(right + at)) return false;
    }
    // The last word overlaps the one before.
    return word_at<std::uint64_t>(left + size - 8) == word_at<std::uint64_t>(right + size - 8);
  }
  if (size >= 4) {
    return word_at<std::uint32_t>(left) == word_at<std::uint32_t>(right) &&
           word_at<std::uint32_t>(left + size - 4) == word_at<std::uint32_t>(right + size - 4);
  }
  for (std::size_t at = 0; at < size; ++at) {
    if (left[at] != right[at]) return false;
  }
  return true;
}

}  // namespace backplane
