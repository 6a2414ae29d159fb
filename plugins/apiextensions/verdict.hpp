// The status that a definition should have: names, established, approval and schemas (the naming,
// establishing, approval and non-structural schema controllers of k8s.io/apiextensions-apiserver).
//
// Thread-safety: pure functions.
#pragma once

#include <optional>
#include <vector>

#include "naming.hpp"

namespace backplane::apiextensions {

// The required changes of the status; empty: the status is correct.
struct Verdict {
  std::optional<Object> accepted_names;
  std::vector<Condition> conditions;
  bool drops_non_structural = false;  // the condition NonStructuralSchema is removed
  bool empty() const noexcept { return !accepted_names && conditions.empty() && !drops_non_structural; }
  // Whether the names differ from those in the status.
  bool gives_names() const noexcept;
  // The change that sets Established for a definition with accepted names; null: there is none.
  Condition* establishing() noexcept;
  void apply(Object& crd) const;
};

// The condition Established of a definition whose names are just being accepted: it is served before the next write sets the condition to
// True.
Condition installing_condition();

// False if the status shows that the definition has all names of its spec; it then does not depend on the names of other definitions.
bool needs_names(const Object& crd);
// `taken`: the names of the definitions of the group, possibly including this one.
Verdict judge(const Object& crd, const TakenNames& taken);
// Adds the change of the condition NonStructuralSchema. Called once for each generation of a definition, so that servers that evaluate a
// schema differently do not overwrite each other's conditions forever.
void verify_structure(const Object& crd, Verdict& verdict);

}  // namespace backplane::apiextensions
