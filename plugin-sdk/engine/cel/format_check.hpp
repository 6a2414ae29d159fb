// 'text %s'.format([a, b]): clauses and arguments, as far as they are written out.
//
// Thread-safety: pure function.
#pragma once

#include "cel/ast.hpp"
#include "cel/problems.hpp"

namespace backplane::cel_detail {

// Of any call of a checked tree; those of other functions, or whose text or list is made elsewhere, are not looked at.
void check_format(const Ast& ast, const Expr& call, Problems& problems);

}  // namespace backplane::cel_detail
