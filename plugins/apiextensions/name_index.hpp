// Which names the definitions of each group have been given, and which definitions wait for one.  A change costs what it changes.
//
// Thread-safety: one executor.
// Lifetime:      keeps no object.
#pragma once

#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "naming.hpp"

namespace backplane::apiextensions {

class NameIndex {
 public:
  // Definitions that had waited for a name that is now free: they are to be checked again.
  using Freed = std::vector<std::string>;

  // Sets the names of the definition `name`.
  [[nodiscard]] Freed put(const std::string& name, const Object& crd);
  [[nodiscard]] Freed remove(const std::string& name);
  // By the definitions of a group.
  const TakenNames& taken(const std::string& group) const;

 private:
  struct Row {
    std::string group;
    GivenNames names;
    bool settled = false;  // it has the names of its spec
    bool operator==(const Row&) const = default;
  };
  struct Group {
    TakenNames taken;
    std::set<std::string> unsettled;
  };
  Freed give_back(const std::string& name, const Row& row);

  std::unordered_map<std::string, Row> rows_;
  std::unordered_map<std::string, Group> groups_;
};

}  // namespace backplane::apiextensions
