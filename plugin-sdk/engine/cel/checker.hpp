// Determines the types of a tree's nodes, and the references of names and calls.
//
// Thread-safety: pure function; only one thread may use the tree during the call.
// Errors:        added to the problems, with the messages of upstream's checker.
#pragma once

#include "cel/ast.hpp"
#include "cel/environment.hpp"
#include "cel/problems.hpp"

namespace backplane::cel_detail {

// Fills ast.types and ast.references.  Names are replaced by qualified names, and calls of functions in namespaces lose their receiver.
// Types are made in `arena`.
void check(Ast& ast, const Environment::State& environment, TypeArena& arena, Problems& problems);

// Checks beyond types: literals that are not valid durations, times or patterns; list and map literals of several types.  For trees without
// problems.
void check_literals(const Ast& ast, const Environment::State& environment, Problems& problems);

}  // namespace backplane::cel_detail
