// The implementations of the table's overloads, by the overload's index.
//
// Thread-safety: the table is made once and never changes.
// Lifetime:      arguments and results as in value.hpp.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "cel/value.hpp"

namespace re2 {
class RE2;
}

namespace backplane::cel_detail {

// The context of an implementation: the arena, and as many arguments as the overload declares.
struct Call {
  Arena& arena;
  std::span<const Val> args;
  const re2::RE2* pattern = nullptr;  // the pattern of a constant argument, compiled with the program

  const Val& operator[](std::size_t i) const noexcept { return args[i]; }
  std::size_t size() const noexcept { return args.size(); }
  std::string_view text(std::size_t i) const noexcept { return args[i].view(); }
};
using Function = Val (*)(Call& call);

struct Implementation {
  std::string_view id;  // the id of the overload
  Function function;
};

// Null for operations of the evaluator itself (short-circuit operators, indexes) and for overloads without an implementation.
Function implementation_of(const Overload& overload);
// Whether the evaluator itself implements the overload.
bool is_special(std::string_view overload_id) noexcept;

// The parts of the table.
std::span<const Implementation> operator_functions();
std::span<const Implementation> conversion_functions();
std::span<const Implementation> time_functions();
std::span<const Implementation> string_functions();
std::span<const Implementation> regex_functions();
std::span<const Implementation> math_functions();
std::span<const Implementation> set_functions();
std::span<const Implementation> list_functions();
std::span<const Implementation> kubernetes_list_functions();
std::span<const Implementation> optional_functions();
std::span<const Implementation> encoder_functions();
std::span<const Implementation> url_functions();
std::span<const Implementation> quantity_functions();
std::span<const Implementation> address_functions();
std::span<const Implementation> format_functions();
std::span<const Implementation> semver_functions();
std::span<const Implementation> authorizer_functions();

// Operators by name, for values whose types are known only at run time: "_+_", "_<_", "size" … accept any arguments.  Null: unknown.
Function operator_of(std::string_view function);
// Whether the value matches the overload's parameter type, without the types of its elements.
bool fits(Arena& arena, const Type& type, const Val& value);

}  // namespace backplane::cel_detail
