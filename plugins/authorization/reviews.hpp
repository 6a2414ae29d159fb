// What the group authorization.k8s.io is asked: may somebody do something, and what may I do.
//
// Thread-safety: const; any thread.
// Lifetime:      the host outlives the storages.
// Errors:        422 for a question that makes no sense; what the authorizers had trouble with stands in the answer.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "backplane/host.hpp"
#include "backplane/points/authorization.hpp"
#include "backplane/rest/roles.hpp"
#include "backplane/types/schema.hpp"

namespace backplane::authorization {

// By resource.
std::map<std::string, std::shared_ptr<RestStorage>> make_reviews(Authorizer& authorizer, RuleResolver& rules,
                                                                 const std::shared_ptr<const SchemaSet>& schemas);

}  // namespace backplane::authorization
