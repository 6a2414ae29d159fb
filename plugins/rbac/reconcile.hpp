// What becomes of a delivered role or binding that somebody has changed.
//
// Rules, selectors, subjects, labels and annotations that are missing are added; what is there besides stays.  An aggregation rule that
// is not delivered goes.  A binding to another role is made anew.
// Thread-safety: pure functions.
#pragma once

#include <optional>

#include "backplane/core/json.hpp"
#include "bootstrap.hpp"

namespace backplane::rbac {

struct Revision {
  bool replaces = false;   // `object` can only be made once the one that is there has gone
  bool forbidden = false;  // somebody has said that the object is to be left alone
  Object object;
};
// What is to be written in the place of `current`; nothing when it has all that is delivered.
std::optional<Revision> revised(const Delivered& delivered, const Object& current);

// The object that is made when it is not there, and the one whose successor it is is `predecessor`.
Object succeeding(const Delivered& delivered, const Object& predecessor);

}  // namespace backplane::rbac
