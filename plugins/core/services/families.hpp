// The address families of a service: makes its policy, its ipFamilies and its clusterIPs consistent with each other and with the cluster's
// families.
//
// Thread-safety: pure functions.
// Errors:        field errors with upstream's messages; the functions report nothing else.
#pragma once

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"
#include "services/addresses.hpp"

namespace backplane::core {

// Returns true for an update of a service that prefers dual stack, if the update changes neither type, policy, addresses nor families. Such
// an update leaves the families as they are, whatever families the cluster has.
bool families_unchanged(const Object& spec, const Object* before);

// Fills in ipFamilyPolicy and ipFamilies, and removes the second family of a service that returns to single stack.  `before` is null on
// create.
void init_families(Object& spec, const Object* before, const Addresses& cluster, FieldErrors& errors);

}  // namespace backplane::core
