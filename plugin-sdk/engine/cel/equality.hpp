// Equality and order of values, across number types, and of lists that a schema calls sets or maps.
//
// Thread-safety: pure functions; values that they make lie in the arena.
#pragma once

#include "cel/value.hpp"

namespace backplane::cel_detail {

enum class Equal : unsigned char { kNo, kYes, kNoOverload };

// The result of ==.  kNoOverload: a library's value compared with another type.
Equal equal(Arena& arena, const Val& a, const Val& b);
inline Val equal_val(Arena& arena, const Val& a, const Val& b) {
  const Equal answer = equal(arena, a, b);
  return answer == Equal::kNoOverload ? no_overload() : bool_val(answer == Equal::kYes);
}
// -1, 0, 1 as an int, or an error for values without an order.
Val compare(const Val& a, const Val& b);

// Equality and hash of map keys: bools, numbers (1, 1u and 1.0 are one key) and texts.
bool same_key(const Val& a, const Val& b) noexcept;
std::uint64_t hash_of(const Val& key) noexcept;

// x in list, key in map.
Val contains(Arena& arena, const Val& container, const Val& item);
// list + list: the union of sets, the merge by key of maps, or concatenation.
Val concatenate(Arena& arena, const Val& a, const Val& b);

}  // namespace backplane::cel_detail
