// Storages of roles and bindings that refuse to grant more than the user has (upstream: pkg/registry/rbac/*/policybased).
//
// Members of system:masters may grant everything. Others may write a role if they have all its rules or the verb `escalate` on it, and a
// binding if they have all rules of its role or the verb `bind` on that role. A user with less gets 403 with the missing rules.
//
// Thread-safety: that of the wrapped storage.
// Lifetime:      owns references to the wrapped storages and to the authorizer.
// Errors:        those of the wrapped storage; kForbidden; kNotFound for a binding to a role that does not exist.
#pragma once

#include <memory>

#include "authorizer.hpp"
#include "backplane/rest/standard_storage.hpp"

namespace backplane::rbac {

// The dependencies of the storages.
struct EscalationChecks {
  std::shared_ptr<const RbacAuthorizer> rbac;  // the rules of a user
  Authorizer* authorizer = nullptr;            // for the verbs `escalate` and `bind`: Host::authorizer()
  // The role of a binding is read from these storages and not from the authorizer, so that a role can be bound as soon as it is created.
  std::shared_ptr<StandardStorage> roles, cluster_roles;
};

std::shared_ptr<StandardStorage> make_checked_roles(std::shared_ptr<StandardStorage> store, EscalationChecks checks);
std::shared_ptr<StandardStorage> make_checked_bindings(std::shared_ptr<StandardStorage> store, EscalationChecks checks);

}  // namespace backplane::rbac
