// The five conditions of a namespace that is being deleted, as kube-controller-manager's namespace controller writes them.
//
// Thread-safety: values and pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "backplane/core/json.hpp"

namespace backplane::core {

// The findings of one pass over a namespace.
struct DeletionReport {
  std::map<std::string, std::string> undiscovered;   // group version → the reason why its resources are not known
  std::string discovery_problem;                     // the reason why no group is known
  std::vector<std::string> problems;                 // the errors of resources whose objects could not be deleted
  std::map<std::string, std::int64_t> remaining;     // "pods." → the number of remaining objects
  std::map<std::string, std::int64_t> by_finalizer;  // finalizer → the number of objects that have it

  // "unable to retrieve the complete list of server APIs: …"; empty: all resources are known.
  std::string discovery_error() const;
  bool failed() const { return !undiscovered.empty() || !discovery_problem.empty() || !problems.empty(); }
};

// Sets the conditions in the namespace's status. Returns false if they were set already.
bool set_deletion_conditions(Object& ns, const DeletionReport& report);

}  // namespace backplane::core
