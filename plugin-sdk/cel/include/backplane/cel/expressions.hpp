// Expressions of admission policies and device selectors (CEL), as far as they can be looked at before there is an engine that runs them:
// syntax, macros, and whether what they name exists.  Types, functions and costs are not looked at.
//
// Thread-safety: pure functions.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace backplane::cel {

// What an expression may name beside the object, the request and the namespace.
struct Names {
  // Not empty: the one value there is, in place of the object, the request, the namespace and what follows.
  std::string_view only = {};
  bool params = false;
  bool authorizer = true;
  // Members of `variables`; null: there is no such thing.
  const std::set<std::string, std::less<>>* variables = nullptr;
};

// Empty, or what upstream's compiler says: "ERROR: <input>:1:5: Syntax error: …", the line, and a mark below.
std::string compile_problems(std::string_view expression, const Names& names);

// A name that may stand for something in expressions.
bool is_identifier(std::string_view name);

}  // namespace backplane::cel
