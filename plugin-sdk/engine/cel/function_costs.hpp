// The costs of Kubernetes' functions, independent of the overload: one row each, with the estimated cost before a run and the actual cost
// after it.
//
// Thread-safety: pure functions.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "cel/call_costs.hpp"
#include "cel/run_cost.hpp"

namespace backplane::cel_detail {

struct FunctionCost {
  std::string_view function;
  std::optional<CallEstimate> (*estimate)(const CostedCall& call);
  CostFunction charge;  // null: 1, or a cost that depends on the overload
};
// Null if the function is not one of Kubernetes'.
const FunctionCost* find_function_cost(std::string_view function);

namespace estimates {
using Estimate = std::optional<CallEstimate>;
Estimate check(const CostedCall& call);
Estimate one(const CostedCall& call);
Estimate selector(const CostedCall& call);
Estimate over_list(const CostedCall& call);
Estimate walked_argument(const CostedCall& call);
Estimate walked_target(const CostedCall& call);
Estimate replace(const CostedCall& call);
Estimate split(const CostedCall& call);
Estimate join(const CostedCall& call);
Estimate find(const CostedCall& call);
Estimate read_once(const CostedCall& call);
Estimate ip(const CostedCall& call);
Estimate read_twice(const CostedCall& call);
Estimate contains_ip(const CostedCall& call);
Estimate contains_cidr(const CostedCall& call);
Estimate validate(const CostedCall& call);
Estimate equals(const CostedCall& call);
}  // namespace estimates

namespace charges {
using Arguments = std::span<const Val>;
std::uint64_t check(Arena& arena, Arguments arguments, const Val& result);
std::uint64_t one(Arena& arena, Arguments arguments, const Val& result);
std::uint64_t selector(Arena& arena, Arguments arguments, const Val& result);
std::uint64_t whole_first(Arena& arena, Arguments arguments, const Val& result);
std::uint64_t traverse(Arena& arena, Arguments arguments, const Val& result);
std::uint64_t traverse_twice(Arena& arena, Arguments arguments, const Val& result);
std::uint64_t make_result(Arena& arena, Arguments arguments, const Val& result);
std::uint64_t pattern(Arena& arena, Arguments arguments, const Val& result);
std::uint64_t validate(Arena& arena, Arguments arguments, const Val& result);
std::uint64_t equality(Arena& arena, Arguments arguments, const Val& result);
}  // namespace charges

}  // namespace backplane::cel_detail
