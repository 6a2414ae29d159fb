// The annotation kubernetes.io/enforce-mountable-secrets: pods of the account may only refer to the secrets that it lists.
//
// Thread-safety: pure functions.
// Source:        kubernetes plugin/pkg/admission/serviceaccount (limitSecretReferences).
#pragma once

#include <optional>
#include <string>

#include "backplane/core/json.hpp"

namespace backplane::admission::accounts {

bool enforces_mountable_secrets(const Object& account);
// The reason why the pod is refused: its first reference to a secret that the account does not list; nullopt: there is none.
std::optional<std::string> forbidden_reference(const Object& account, const Object& pod_spec);
// Like forbidden_reference(), for ephemeral containers.
std::optional<std::string> forbidden_ephemeral_reference(const Object& account, const Object& pod_spec);

}  // namespace backplane::admission::accounts
