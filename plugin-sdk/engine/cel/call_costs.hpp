// What calls of libraries' functions are reckoned to cost.
//
// Thread-safety: pure functions.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "cel/ast.hpp"
#include "cel/estimate.hpp"
#include "cel/types.hpp"

namespace backplane::cel_detail {

// An argument, or what stands before the dot.
struct CostNode {
  const Expr* expr = nullptr;
  const Type* type = nullptr;
  MaybeRange size;        // as far as it is known
  MaybeRange items_size;  // of a list's items, from what is declared

  Range size_or_unknown() const { return size.value_or(Range::unknown()); }
};

struct CostedCall {
  std::string_view function;
  std::string_view overload;
  const CostNode* target = nullptr;  // null: a global function
  std::span<const CostNode> arguments;
};

// Of sets and lists, asked for first; and of Kubernetes' own.  Nothing: a function that costs what the language itself says.
std::optional<CallEstimate> extension_call_cost(const CostedCall& call);
std::optional<CallEstimate> kubernetes_call_cost(const CostedCall& call);

}  // namespace backplane::cel_detail
