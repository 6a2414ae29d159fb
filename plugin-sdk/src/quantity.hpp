// Rounding of resource.Quantity, for defaults of built-in kinds.
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>

namespace backplane {

// `text`, which is a quantity, rounded away from zero to whole units of 10^scale; unchanged when it has no finer digits (Quantity.RoundUp).
__attribute__((visibility("hidden"))) std::string round_quantity_up(std::string_view text, int scale);

}  // namespace backplane
