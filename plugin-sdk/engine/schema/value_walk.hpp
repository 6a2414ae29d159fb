// Walks over a value of a custom resource and checks every value in it whose type has constraints, up to a limit of findings.
//
// Thread-safety: one thread; a walk is used once.
#pragma once

#include "schema/constraints.hpp"
#include "schema/findings.hpp"

namespace backplane::schema {

class ValueWalk {
 public:
  // Adds the problems of `value` itself, without those of its parts.
  using Check = void (*)(const Value& value, const Constraints& rule, const Place& place, FieldErrors& found);

  ValueWalk(Check check, FieldErrors& errors) : check_(check), errors_(errors) {}
  void walk(const Value& value, const Type& type, const Place& place);

 private:
  void check_value(const Value& value, const Constraints& rule, const Place& place);

  const Check check_;
  FieldErrors& errors_;
  std::size_t left_ = kMaxFoundBytes;
};

}  // namespace backplane::schema
