// Like alike(), for objects that no Value holds: no copy is made.
//
// Thread-safety: a pure function.
#pragma once

#include <algorithm>

#include "backplane/core/json_access.hpp"
#include "backplane/types/deep_equal.hpp"

namespace backplane::admission::webhooks {

inline bool alike_objects(const Object& a, const Object& b) noexcept {
  const auto in_b = [&](const auto& member) { return alike(&member.value(), find(b, member.key())); };
  const auto in_a = [&](const auto& member) { return find(a, member.key()) != nullptr || alike(&member.value(), nullptr); };
  return std::all_of(a.begin(), a.end(), in_b) && std::all_of(b.begin(), b.end(), in_a);
}

}  // namespace backplane::admission::webhooks
