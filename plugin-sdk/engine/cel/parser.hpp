// The grammar of CEL: reads an expression into its tree, macros expanded.
//
// Thread-safety: pure functions.
// Errors:        added to the problems; the tree is complete only if there are none.
#pragma once

#include <string_view>

#include "cel/ast.hpp"
#include "cel/macros.hpp"
#include "cel/problems.hpp"

namespace backplane::cel_detail {

struct Syntax {
  MacroSet macros;
  bool optional = true;        // a.?b, a[?b], {?k: v}, [?v]
  bool escaped_names = false;  // a.`b-c`
};

// Sets ast.root.
void parse(Ast& ast, const Syntax& syntax, Problems& problems);
bool is_reserved(std::string_view word);

}  // namespace backplane::cel_detail
