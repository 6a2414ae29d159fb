// The four review kinds of the group authorization.k8s.io: checks of a user's access, and the caller's rules.
//
// Thread-safety: const; any thread.
// Lifetime:      the host outlives the storages.
// Errors:        422 for an invalid spec; errors of the authorizers are in the response.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "backplane/host.hpp"
#include "backplane/points/authorization.hpp"
#include "backplane/rest/roles.hpp"
#include "backplane/types/schema.hpp"

namespace backplane::authorization {

// Returns the storages by the names of their resources.
std::map<std::string, std::shared_ptr<RestStorage>> make_reviews(Authorizer& authorizer, RuleResolver& rules,
                                                                 const std::shared_ptr<const SchemaSet>& schemas);

}  // namespace backplane::authorization
