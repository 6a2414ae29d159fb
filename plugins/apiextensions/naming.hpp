// The names that are accepted for a definition: those of its spec, unless another definition of the group has them
// (NamingConditionController).
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "definition.hpp"

namespace backplane::apiextensions {

// The accepted names of one definition.
struct GivenNames {
  std::vector<std::string> resources;  // plural, singular, short names
  std::vector<std::string> kinds;      // kind, list kind
  bool operator==(const GivenNames&) const = default;
};
GivenNames given_names(const Object& crd);

// The accepted names of the definitions of one group, with the number of uses of each.
class TakenNames {
 public:
  using Counts = std::unordered_map<std::string, int>;

  void add(const GivenNames& names);
  void remove(const GivenNames& names);
  const Counts& resources() const noexcept { return resources_; }
  const Counts& kinds() const noexcept { return kinds_; }
  bool empty() const noexcept { return resources_.empty() && kinds_.empty(); }

 private:
  Counts resources_;
  Counts kinds_;
};

struct NamingResult {
  Object accepted;  // status.acceptedNames
  Condition accepted_condition;
  bool names_accepted() const noexcept { return accepted_condition.status == "True"; }
};

// `taken` may hold the definition's own accepted names.
NamingResult accept_names(const Object& crd, const TakenNames& taken);

// True when status.acceptedNames equals spec.names.
bool names_are_accepted(const Object& crd);

}  // namespace backplane::apiextensions
