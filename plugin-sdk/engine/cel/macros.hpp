// Macros: calls that the parser expands, mostly to comprehensions.
//
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "cel/ast.hpp"
#include "cel/problems.hpp"

namespace backplane::cel_detail {

// Families of macros, as environments have them.
enum MacroFamily : std::uint32_t {
  kStandardMacros = 1,  // has, all, exists, exists_one, map, filter
  kOptionalMacros = 2,  // optMap, optFlatMap
  kTwoVariableMacros = 4,
  kBindMacro = 8,    // cel.bind
  kSortMacro = 16,   // sortBy
  kMathMacros = 32,  // math.greatest, math.least
};
using MacroSet = std::uint32_t;

inline constexpr std::string_view kAccumulator = "@result";

// A parsed call: `name(arguments)` or `target.name(arguments)`; `offset` is the position of its opening parenthesis.
struct MacroCall {
  std::string_view name;
  Expr* target = nullptr;
  std::span<Expr*> arguments;
  std::size_t offset = 0;
};

enum class Expansion : unsigned char { kNone, kDone, kRefused };
// kDone: `out` is the expansion.  kRefused: the macro's arguments are wrong; the problems have the reason.
Expansion expand_macro(Ast& ast, MacroSet families, const MacroCall& call, Problems& problems, Expr*& out);

}  // namespace backplane::cel_detail
