// Reconciliation of a default role or binding that a client has changed.
//
// Rules, selectors, subjects, labels and annotations that are missing are added; additional ones are kept. An aggregation rule that the
// default object lacks is removed. A binding that refers to another role is deleted and created again.
// Thread-safety: pure functions.
#pragma once

#include <optional>

#include "backplane/core/json.hpp"
#include "bootstrap.hpp"

namespace backplane::rbac {

struct Revision {
  bool replaces = false;   // `object` can only be created after the existing one is deleted
  bool forbidden = false;  // the object's annotation forbids updates
  Object object;
};
// Returns the replacement of `current`; nullopt if `current` needs no change.
std::optional<Revision> revised(const Delivered& delivered, const Object& current);

// Returns the object to create. `predecessor`: the existing object whose rules or subjects the new object takes over.
Object succeeding(const Delivered& delivered, const Object& predecessor);

}  // namespace backplane::rbac
