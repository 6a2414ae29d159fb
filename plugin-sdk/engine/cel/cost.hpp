// What running an expression can cost at the least and at the most, as upstream reckons it: rules of custom resources are accepted or
// refused by these numbers, so they are part of the API.
//
// Thread-safety: pure function.
#pragma once

#include "cel/ast.hpp"
#include "cel/environment.hpp"

namespace backplane::cel_detail {

// Of a checked tree.  Sizes of what variables hold come from their declared types.
cel::Cost estimate_cost(const Ast& ast, const Environment::State& environment);

}  // namespace backplane::cel_detail
