// The grammar of CEL: reads an expression and notes what it names.
//
// Thread-safety: pure functions.
// Lifetime:      what is noted borrows the source.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "cel_tokens.hpp"

namespace backplane::cel {

// A name that stands for a value of the surroundings, not for one that a macro has bound.
struct Reference {
  std::string_view name;
  std::size_t offset = 0;
  std::string_view member = {};  // of name.member: the first one
  std::size_t member_offset = 0;
  bool bound = false;  // by a macro, or the first part of a function's name
};

struct Parsed {
  std::vector<Reference> references;
  std::vector<SourceProblem> problems;  // the first that keeps the grammar from going on, and those that do not
  bool too_deep = false;
};

Parsed parse(std::string_view source);
bool is_reserved(std::string_view word);

}  // namespace backplane::cel
