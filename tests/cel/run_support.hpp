// For tests: compiles and runs expressions with one variable, `self`.
#pragma once

#include <string>
#include <string_view>

#include "backplane/types/cel.hpp"

namespace backplane {

// Returns the result of the expression as JSON, "error: …" if the evaluation fails, or "problem: …" if the expression does not compile.
inline std::string answer(std::string_view expression, std::string_view self = "null", std::uint64_t* cost = nullptr) {
  cel::EnvironmentOptions options;
  options.version = 36;
  options.extras = {.bindings = true, .json_patch = true, .math = true, .encoders = true};
  options.variables.push_back({"self", cel::named_type("dyn")});
  const cel::Compiled compiled = cel::Environment::make(std::move(options))->compile(expression);
  if (compiled.program == nullptr) return "problem: " + compiled.problems;
  const Value tree = json::parse(std::string(self));
  const cel::Binding binding{"self", &tree};
  cel::Budget budget;
  const cel::Outcome outcome = cel::run(*compiled.program, {&binding, 1}, budget);
  if (cost != nullptr) *cost = outcome.cost;
  return outcome.end == cel::Outcome::End::kValue ? to_json(outcome.value) : "error: " + outcome.message;
}

inline std::uint64_t cost_of_run(std::string_view expression, std::string_view self = "null") {
  std::uint64_t cost = 0;
  answer(expression, self, &cost);
  return cost;
}

}  // namespace backplane
