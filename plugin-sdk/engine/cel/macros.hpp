// Macros: calls that the parser replaces by what they stand for, most of them by loops.
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

// A call that is read: `name(arguments)`, or `target.name(arguments)`, whose bracket stands at `offset`.
struct MacroCall {
  std::string_view name;
  Expr* target = nullptr;
  std::span<Expr*> arguments;
  std::size_t offset = 0;
};

enum class Expansion : unsigned char { kNone, kDone, kRefused };
// kDone: `out` is what the call stands for.  kRefused: the macro's arguments are wrong, which the problems say.
Expansion expand_macro(Ast& ast, MacroSet families, const MacroCall& call, Problems& problems, Expr*& out);

}  // namespace backplane::cel_detail
