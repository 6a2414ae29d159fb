// The node of a raw value: a list of a number that no JSON text represents, and the raw text. Decoded values never have this form, because
// readers refuse CBOR's infinities and numbers that are too large for a float64.
#pragma once

#include <limits>

#include "backplane/core/json.hpp"

namespace backplane {

inline constexpr double kRawMark = std::numeric_limits<double>::infinity();

inline bool is_raw_node(const Array& array) noexcept {
  return array.size() == 2 && array[0].is_double() && array[0].get_double() == kRawMark && array[1].is_string();
}

}  // namespace backplane
