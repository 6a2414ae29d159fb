// What a definition's status ought to say of its names, of whether it is established, of its approval and of its schemas (the naming,
// establishing, approval and non-structural schema controllers of k8s.io/apiextensions-apiserver).
//
// Thread-safety: pure functions.
#pragma once

#include <optional>
#include <vector>

#include "naming.hpp"

namespace backplane::apiextensions {

// What is to be changed; nothing: the status is right.
struct Verdict {
  std::optional<Object> accepted_names;
  std::vector<Condition> conditions;
  bool drops_non_structural = false;  // the condition NonStructuralSchema goes
  bool empty() const noexcept { return !accepted_names && conditions.empty() && !drops_non_structural; }
  // Whether the names are not yet those that the status tells of.
  bool gives_names() const noexcept;
  // The condition that says whether the definition, which has its names, is established from now on; null: this is not said.
  Condition* establishing() noexcept;
  void apply(Object& crd) const;
};

// What is said of a definition whose names were just accepted: whoever serves it does so before the next write says that it is established.
Condition installing_condition();

// False when the definition has all the names it asks for, and says so: what others are called is nothing to it.
bool needs_names(const Object& crd);
// `taken`: by the definitions of the group, this one perhaps among them.
Verdict judge(const Object& crd, const TakenNames& taken);
// Adds what is to become of the condition NonStructuralSchema.  Asked once for each generation of a definition: hosts that judge a schema
// differently must not answer each other's writes.
void judge_structure(const Object& crd, Verdict& verdict);

}  // namespace backplane::apiextensions
