// The PriorityClasses of the cluster in a look-up table, so that no JSON is parsed for a pod.
//
// Thread-safety: look-ups from any thread; changes are made on the informer's executor.
// Lifetime:      the informer's handlers share the state of the table.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/services.hpp"

namespace backplane::admission::pods {

struct PriorityClass {
  std::string name;
  std::int64_t value = 0;
  std::string preemption_policy;  // empty: none
  bool global_default = false;
};

PriorityClass priority_class_of(const ObjectEntry& entry);
// The class with globalDefault; of several classes, the one with the lowest value.
std::optional<PriorityClass> global_default_of(const std::vector<ObjectRef>& entries);

class PriorityClasses {
 public:
  // Call it in a make function.
  explicit PriorityClasses(const Lister& lister);

  std::optional<PriorityClass> find(std::string_view name) const;
  std::optional<PriorityClass> global_default() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace backplane::admission::pods
