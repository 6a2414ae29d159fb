// Estimated costs of calls of the language's extensions: sets and lists.
#include "cel/call_costs.hpp"

namespace backplane::cel_detail {
namespace {

using Estimate = std::optional<CallEstimate>;

// The value of an integer literal, or `otherwise`; a negative literal counts as zero.
std::uint64_t number_or(const CostNode& node, std::uint64_t otherwise) {
  if (node.expr->kind != ExprKind::kLiteral || node.expr->literal.kind != LiteralKind::kInt) return otherwise;
  return node.expr->literal.integer < 0 ? 0 : static_cast<std::uint64_t>(node.expr->literal.integer);
}

Estimate new_list(const Range& size, double factor) {
  return CallEstimate{size.times(factor) + Range::fixed(1) + Range::fixed(kListCost), size};
}

Estimate pairs(const CostedCall& call, double factor) {
  const Range size = call.arguments[0].size_or_unknown() * call.arguments[1].size_or_unknown();
  return CallEstimate{size.times(factor) + Range::fixed(1)};
}

// Each item is compared with each other item of the list.
Estimate compared(const CostNode& node, double factor) {
  const Range size = node.size_or_unknown();
  return new_list(size * size, factor);
}

double sorting_factor(std::string_view overload) {
  return overload.starts_with("list_string_") || overload.starts_with("list_bytes_") ? 2 + kTextFactor : 2;
}

}  // namespace

std::optional<CallEstimate> extension_call_cost(const CostedCall& call) {
  const std::string_view id = call.overload;
  if (id == "list_sets_contains_list" || id == "list_sets_intersects_list") return pairs(call, 1);
  if (id == "list_sets_equivalent_list") return pairs(call, 2);
  if (id == "lists_range") return new_list(Range::fixed(number_or(call.arguments[0], kNoBound)), 1);
  if (call.target == nullptr) return std::nullopt;
  if (id == "list_slice") {
    const std::uint64_t begin = number_or(call.arguments[0], 0);
    return new_list(Range::fixed(number_or(call.arguments[1], call.target->size_or_unknown().max) - begin), 1);
  }
  if (id == "list_reverse") return new_list(call.target->size_or_unknown(), 1);
  if (id == "list_flatten") return new_list(call.target->size_or_unknown(), 1);
  if (id == "list_flatten_int") {
    return new_list(call.target->size_or_unknown(), static_cast<double>(number_or(call.arguments[0], kNoBound)));
  }
  if (id == "list_distinct") return compared(*call.target, 2);
  if (id.ends_with("_sort")) return compared(*call.target, sorting_factor(id));
  if (id.ends_with("_sortByAssociatedKeys")) return compared(call.arguments[0], sorting_factor(id));
  return std::nullopt;
}

}  // namespace backplane::cel_detail
