// Reconciliation of a default role or binding that a client has changed.
//
// Rules, selectors, subjects, labels and annotations that are missing are added; additional ones stay.  An aggregation rule that is not
// delivered is removed.  A binding to another role is created again.
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
// The replacement of `current`; nullopt if it has everything that is delivered.
std::optional<Revision> revised(const Delivered& delivered, const Object& current);

// The object to create; `predecessor`: the existing object whose rules or subjects it takes over.
Object succeeding(const Delivered& delivered, const Object& predecessor);

}  // namespace backplane::rbac
