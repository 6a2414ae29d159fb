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
  std::map<std::string, std::string> undiscovered;   // group version → why its resources are not known
  std::string discovery_problem;                     // no group is known: why
  std::vector<std::string> problems;                 // of resources whose objects could not be deleted
  std::map<std::string, std::int64_t> remaining;     // "pods." → how many objects are left
  std::map<std::string, std::int64_t> by_finalizer;  // finalizer → how many of them have it

  // "unable to retrieve the complete list of server APIs: …"; empty: all resources are known.
  std::string discovery_error() const;
  bool failed() const { return !undiscovered.empty() || !discovery_problem.empty() || !problems.empty(); }
};

// Sets the conditions in the namespace's status; false: they are so already.
bool set_deletion_conditions(Object& ns, const DeletionReport& report);

}  // namespace backplane::core
