// The parts of a program.
//
// Thread-safety: immutable once made.
#pragma once

#include <memory>

#include "backplane/types/cel.hpp"
#include "cel/ast.hpp"
#include "cel/plan.hpp"
#include "cel/types.hpp"

namespace backplane::cel {

struct Program::State {
  explicit State(std::string_view source) : ast(source) {}

  cel_detail::Ast ast;
  cel_detail::TypeArena arena;
  std::shared_ptr<const Environment> environment;
  Cost cost;
  std::unique_ptr<const cel_detail::Plan> plan;
};

}  // namespace backplane::cel
