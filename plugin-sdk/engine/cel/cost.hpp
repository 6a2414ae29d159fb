// The minimal and maximal cost of running an expression, by upstream's estimate: rules of custom resources are accepted or refused by
// these numbers, so they are part of the API.
//
// Thread-safety: pure function.
#pragma once

#include "cel/ast.hpp"
#include "cel/environment.hpp"

namespace backplane::cel_detail {

// Estimates a checked tree.  Sizes of variables' values come from their declared types.
cel::Cost estimate_cost(const Ast& ast, const Environment::State& environment);

}  // namespace backplane::cel_detail
