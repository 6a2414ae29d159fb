// Estimated costs of calls of library functions.
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

// An argument or the receiver of a call.
struct CostNode {
  const Expr* expr = nullptr;
  const Type* type = nullptr;
  MaybeRange size;        // if it is known
  MaybeRange items_size;  // the size of a list's items, from the declaration

  Range size_or_unknown() const { return size.value_or(Range::unknown()); }
};

struct CostedCall {
  std::string_view function;
  std::string_view overload;
  const CostNode* target = nullptr;  // null: a global function
  std::span<const CostNode> arguments;
};

// extension_call_cost() covers the functions of sets and lists, and is called first. kubernetes_call_cost() covers the functions that
// Kubernetes adds. nullopt: the language's own cost applies.
std::optional<CallEstimate> extension_call_cost(const CostedCall& call);
std::optional<CallEstimate> kubernetes_call_cost(const CostedCall& call);

}  // namespace backplane::cel_detail
