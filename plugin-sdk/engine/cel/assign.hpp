// Assignability of types, and the bindings of type parameters.
//
// Thread-safety: an instance belongs to one expression and one thread.
#pragma once

#include <map>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "cel/types.hpp"

namespace backplane::cel_detail {

bool is_dyn(const Type& type) noexcept;
bool is_dyn_or_error(const Type& type) noexcept;
// Whether null can be assigned to the type.
bool takes_null(const Type& type) noexcept;
// The more general one of two assignable types.
const Type* most_general(const Type* a, const Type* b);

// The bindings of type parameters.  A check that fails adds no binding.
class Bindings {
 public:
  explicit Bindings(TypeArena& arena) : arena_(arena) {}

  // Returns a new, unbound parameter.
  const Type* fresh();
  bool assignable(const Type* a, const Type* b);
  bool all_assignable(std::span<const Type* const> a, std::span<const Type* const> b);
  // The type with parameters replaced by their bindings; `to_dyn`: unbound parameters are replaced by dyn.
  const Type* substitute(const Type* type, bool to_dyn) const;

 private:
  const Type* find(const Type& param) const;
  void bind(const Type& param, const Type* type);
  std::pair<bool, bool> substitutes(const Type* a, const Type* param);
  bool assign(const Type* a, const Type* b);
  bool assign_all(std::span<const Type* const> a, std::span<const Type* const> b);
  bool absent_from(const Type& param, const Type& within) const;
  void unbind(std::size_t until);

  TypeArena& arena_;
  std::map<std::string_view, const Type*> bound_;
  // former bindings, which a failed check restores; null: the parameter was unbound
  std::vector<std::pair<std::string_view, const Type*>> before_;
  unsigned next_ = 0;
};

// Replaces the parameters of an overload's types by fresh parameters.
class Instance {
 public:
  Instance(Bindings& bindings, TypeArena& arena) : bindings_(bindings), arena_(arena) {}
  const Type* of(const Type* type);

 private:
  Bindings& bindings_;
  TypeArena& arena_;
  std::vector<std::pair<std::string_view, const Type*>> made_;
};

}  // namespace backplane::cel_detail
