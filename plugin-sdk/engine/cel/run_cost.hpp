// What calls are taken to have cost once they are done: cel-go's figures, with Kubernetes's for its own functions.
//
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "cel/estimate.hpp"
#include "cel/value.hpp"

namespace backplane::cel_detail {

using CostFunction = std::uint64_t (*)(Arena& arena, std::span<const Val> arguments, const Val& result);

// `overload`: empty where several fit, and the values decide.  Null: the call costs one.
CostFunction cost_of(std::string_view function, std::string_view overload);

}  // namespace backplane::cel_detail
