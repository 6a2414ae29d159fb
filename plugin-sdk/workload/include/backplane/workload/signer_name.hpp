// Names of signers ("example.com/signer"), and of the ClusterTrustBundles that belong to them.
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"
#include "backplane/types/names.hpp"

namespace backplane::workload {

void check_signer_name(const std::string& path, std::string_view name, FieldErrors& errors);
// Checks annotations that users pass to a signer: a key has a domain and may contain upper-case letters, and the total size is at most 256
// KiB.
void check_user_annotations(const std::string& path, const Object& annotations, FieldErrors& errors);
// True if the signer is one of Kubernetes.
bool is_kubernetes_signer(std::string_view name) noexcept;
// Returns the domain before the slash.
std::string_view signer_domain(std::string_view name) noexcept;
// Returns the reasons why the bundle of `signer` (empty: a bundle without a signer) cannot have the name. `prefix`: the name is a
// generateName, to which a suffix will be added.
Problems bundle_name_problems(std::string_view signer, std::string_view name, bool prefix);
// Like the function above, for a name that begins with the signer's name.
Problems bundle_name_problems(std::string_view name);

}  // namespace backplane::workload
