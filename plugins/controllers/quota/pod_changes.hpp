// Which updates of a pod may change what quotas count: its resources, or the scopes that it belongs to.
//
// The watch delivers the new pod only, so a number is kept for each pod whose specification has ever changed (metadata.generation above 1).
//
// Thread-safety: one thread.
// Lifetime:      the controller owns it.
// Errors:        none.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "backplane/core/json.hpp"

namespace backplane::controllers {

class PodChanges {
 public:
  // Notes the pod; whether its specification, or the resources of its running containers, differ from when it was noted last.
  bool note(const std::string& key, const Object& pod);
  void forget(const std::string& key) { noted_.erase(key); }

 private:
  std::map<std::string, std::size_t> noted_;  // namespace/name → number of generation and resources
};

}  // namespace backplane::controllers
