// Functions of resource.Quantity for defaults and rules of built-in kinds, in addition to its order.
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>

namespace backplane {

// `text`, which is a quantity, rounded away from zero to whole units of 10^scale; unchanged when it has no finer digits (Quantity.RoundUp).
[[gnu::visibility("hidden")]] std::string round_quantity_up(std::string_view text, int scale);

// Whether `text`, which is a quantity, has no fraction, in any notation: 1.500 and 1e-3 have one, 1.5e1 has none.
[[gnu::visibility("hidden")]] bool is_whole_quantity(std::string_view text);

}  // namespace backplane
