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

// Kind and name of roles that bindings refer to and that do not exist, without repetitions.
using MissingRoles = std::vector<std::pair<std::string, std::string>>;
// The errors of references to them, with the authorizer's text: one alone, several in brackets.
std::string missing_text(const MissingRoles& missing);

struct UserRules {
  PolicyRules rules;
  MissingRoles missing;
};

// Whether a binding of the version at `root` allows the request.
AuthorizerResult decide(const SubjectTrie::Node* root, const RequestView& request);
// The rules of all bindings of the user in the cluster and in `ns`: cluster role bindings first, each by name.
UserRules user_rules(const SubjectTrie::Node* root, const UserInfo& user, std::string_view ns);

}  // namespace backplane::rbac
