// The key range of all objects: the keys that begin with kStorageKeyRoot and a slash.
#pragma once

#include <array>
#include <string_view>

#include "backplane/points/storage.hpp"

namespace backplane {

namespace detail {
constexpr auto storage_key_root_and(char last) {
  std::array<char, kStorageKeyRoot.size() + 1> out{};
  for (std::size_t i = 0; i < kStorageKeyRoot.size(); ++i) out[i] = kStorageKeyRoot[i];
  out.back() = last;
  return out;
}
inline constexpr auto kObjectKeyPrefixText = storage_key_root_and('/');
inline constexpr auto kObjectKeysEndText = storage_key_root_and('/' + 1);
}  // namespace detail

// "/registry/"
inline constexpr std::string_view kObjectKeyPrefix(detail::kObjectKeyPrefixText.data(), detail::kObjectKeyPrefixText.size());
// The end of the range: the first key that is greater than all keys with kObjectKeyPrefix.
inline constexpr std::string_view kObjectKeysEnd(detail::kObjectKeysEndText.data(), detail::kObjectKeysEndText.size());

}  // namespace backplane
