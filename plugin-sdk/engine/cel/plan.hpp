// The executable form of a checked tree: names are slots, constants are folded, patterns are compiled, every call has its implementation
// and its cost.
//
// Thread-safety: immutable once made; any number of runs at once.
// Lifetime:      borrows the tree, its types and the environment, which must outlive it.
// Errors:        make_plan() returns upstream's planner errors ("type conversion error from 'string' to 'int'").
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/types/cel.hpp"
#include "cel/arena.hpp"
#include "cel/ast.hpp"
#include "cel/node.hpp"

namespace backplane::cel_detail {

class Plan {
 public:
  Plan();
  ~Plan();
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  struct Variable {
    std::string_view name;
    const cel::DeclType* decl = nullptr;  // null: dynamic
  };
  std::unique_ptr<const Node> root;
  std::vector<Variable> variables;  // the variables that the expression uses, by slot
  std::size_t locals = 0;           // the number of variables of loops
  Arena& constants();

 private:
  std::unique_ptr<Arena> constants_;  // most plans have none
};

// Null: `problem` has the reason.
std::unique_ptr<const Plan> make_plan(const Ast& ast, const cel::EnvironmentOptions& environment, std::string& problem);

}  // namespace backplane::cel_detail
