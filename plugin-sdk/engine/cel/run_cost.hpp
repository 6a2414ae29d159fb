// Actual costs of completed calls: cel-go's costs, and Kubernetes' for its functions.
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

// `overload`: empty if several match and the values decide. null: the call costs 1.
CostFunction cost_of(std::string_view function, std::string_view overload);

}  // namespace backplane::cel_detail
