// Searches of one version of a compiled policy.
//
// Thread-safety: pure functions of an immutable version.
// Lifetime:      the version outlives the call.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backplane/points/authorization.hpp"
#include "rules.hpp"
#include "subject_index.hpp"

namespace backplane::rbac {

// Kinds and names of the missing roles that bindings refer to, without duplicates.
using MissingRoles = std::vector<std::pair<std::string, std::string>>;
// The error texts of references to missing roles, as upstream's authorizer writes them: several are put in brackets.
std::string missing_text(const MissingRoles& missing);

struct UserRules {
  PolicyRules rules;
  MissingRoles missing;
};

// Decides whether a binding of the version at `root` allows the request.
AuthorizerResult decide(const SubjectTrie::Node* root, const RequestView& request);
// Returns the rules of all bindings of the user in the cluster and in `ns`: first those of cluster role bindings, then those of role
// bindings, each sorted by the names of the bindings.
UserRules user_rules(const SubjectTrie::Node* root, const UserInfo& user, std::string_view ns);

}  // namespace backplane::rbac
