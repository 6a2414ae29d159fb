// Removes members and items from large trees in linear time.
#pragma once

#include <string_view>

#include "backplane/core/json.hpp"

namespace backplane::schema {

// Erases a member.  Large objects lose their order, which makes erasing cheap; the printer sorts them.
inline void drop_member(Object& object, std::string_view key) {
  constexpr std::size_t kOrdered = 256;
  if (object.size() <= kOrdered) {
    erase_member(object, key);
  } else {
    object.erase(key);
  }
}

// Keeps the items for which `keep` is true, in order.
template <class Keep>
void keep_items(Array& array, Keep keep) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < array.size(); ++i) {
    if (!keep(array[i])) continue;
    if (kept != i) array[kept] = std::move(array[i]);
    ++kept;
  }
  array.resize(kept);
}

}  // namespace backplane::schema
