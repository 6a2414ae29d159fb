// Detects updates of a pod that may change its usage for quotas: its resources, or the scopes that it belongs to.
//
// The watch delivers the new pod only, so a hash is stored for each pod whose specification has ever changed (metadata.generation above 1).
//
// Thread-safety: one thread.
// Lifetime:      the controller owns it.
// Errors:        none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "backplane/core/json.hpp"

namespace backplane::controllers {

class PodChanges {
 public:
  // Records the pod. Returns true if its specification, or the resources of its running containers, differ from the last record.
  bool note(const std::string& key, const Object& pod);
  void forget(const std::string& key) { noted_.erase(key); }

  // For a list of pods after missed events, call begin_list(), then note() for each pod, then end_list(). end_list() forgets the pods that
  // the list lacks.
  void begin_list() noexcept { ++list_; }
  void end_list();
  std::size_t size() const noexcept { return noted_.size(); }

 private:
  struct Noted {
    std::size_t number = 0;  // a hash of generation and resources
    std::uint32_t list = 0;  // the last list that contained the pod
  };
  std::map<std::string, Noted> noted_;  // by "namespace/name"
  std::uint32_t list_ = 0;
};

}  // namespace backplane::controllers
