// Which names a definition gets: its own, unless another definition of the group has them already (NamingConditionController).
//
// Thread-safety: pure functions.
#pragma once

#include <set>
#include <string>

#include "definition.hpp"

namespace backplane::apiextensions {

// Names that the definitions of one group have been given.
struct TakenNames {
  std::set<std::string, std::less<>> resources;
  std::set<std::string, std::less<>> kinds;
  void add(const Object& crd);
};

struct NamingResult {
  Object accepted;  // status.acceptedNames
  Condition accepted_condition;
  bool names_accepted() const noexcept { return accepted_condition.status == "True"; }
};

// `taken` may hold the definition's own accepted names.
NamingResult accept_names(const Object& crd, const TakenNames& taken);

// True when status.acceptedNames is what spec.names asks for.
bool names_settled(const Object& crd);

}  // namespace backplane::apiextensions
