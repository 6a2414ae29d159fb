// The accepted names of the definitions of each group, and the definitions that wait for a name. The cost of a change does not depend on
// the number of definitions.
//
// Thread-safety: one executor.
// Lifetime:      holds no objects.
#pragma once

#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "naming.hpp"

namespace backplane::apiextensions {

class NameIndex {
 public:
  // Definitions that waited for a name that is free now; they must be checked again.
  using Freed = std::vector<std::string>;

  // Sets the accepted names of the definition `name`.
  [[nodiscard]] Freed put(const std::string& name, const Object& crd);
  [[nodiscard]] Freed remove(const std::string& name);
  // The accepted names of all definitions of a group.
  const TakenNames& taken(const std::string& group) const;

 private:
  struct Row {
    std::string group;
    GivenNames names;
    bool settled = false;  // the definition has all names of its spec
    bool operator==(const Row&) const = default;
  };
  struct Group {
    TakenNames taken;
    std::set<std::string> unsettled;
  };
  Freed release(const std::string& name, const Row& row);

  std::unordered_map<std::string, Row> rows_;
  std::unordered_map<std::string, Group> groups_;
};

}  // namespace backplane::apiextensions
