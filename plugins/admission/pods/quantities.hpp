// Numbers in resource quantities: Quantity.Value and Quantity.MilliValue.
//
// Thread-safety: pure functions.
// Errors:        none; a text that is not a quantity counts as 0, and so does a value that exceeds 64 bits, as in upstream.
// Source:        k8s.io/apimachinery/pkg/api/resource.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

namespace backplane::admission::pods {

// The largest whole value that fits 64 bits in thousandths (resource.MaxMilliValue).
inline constexpr std::int64_t kMaxMilliValue = std::numeric_limits<std::int64_t>::max() / 1000;

// The quantity in whole units, rounded away from zero.
std::int64_t whole_value(std::string_view quantity);
// The quantity in thousandths, rounded away from zero.
std::int64_t milli_value(std::string_view quantity);

}  // namespace backplane::admission::pods
