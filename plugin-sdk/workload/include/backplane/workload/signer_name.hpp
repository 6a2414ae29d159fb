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
// Annotations that users pass to a signer: keys have a domain and may use upper case, and the total size is at most 256 KiB.
void check_user_annotations(const std::string& path, const Object& annotations, FieldErrors& errors);
// Whether the signer is one of Kubernetes' own.
bool is_kubernetes_signer(std::string_view name) noexcept;
// The domain before the slash.
std::string_view signer_domain(std::string_view name) noexcept;
// The reason why the bundle of a signer (empty: without a signer) cannot have the name; `prefix`: the name is a prefix, to which a suffix
// will be added.
Problems bundle_name_problems(std::string_view signer, std::string_view name, bool prefix);
// The same for a name alone, which begins with the signer's name.
Problems bundle_name_problems(std::string_view name);

}  // namespace backplane::workload
