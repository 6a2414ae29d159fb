// 'text %s'.format([a, b]): checks the clauses and the literal arguments.
//
// Thread-safety: pure function.
#pragma once

#include "cel/ast.hpp"
#include "cel/problems.hpp"

namespace backplane::cel_detail {

// Checks any call of a checked tree; calls of other functions, or without a literal text and list, are not checked.
void check_format(const Ast& ast, const Expr& call, Problems& problems);

}  // namespace backplane::cel_detail
