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
// Annotations that users give a signer: keys with a domain, in any case, all of them in 256 KiB.
void check_user_annotations(const std::string& path, const Object& annotations, FieldErrors& errors);
// One of Kubernetes' own.
bool is_kubernetes_signer(std::string_view name) noexcept;
// The domain in front of the slash.
std::string_view signer_domain(std::string_view name) noexcept;
// Why a bundle of the signer (empty: of none) cannot have the name; `prefix`: the name is one that is to be continued.
Problems bundle_name_problems(std::string_view signer, std::string_view name, bool prefix);
// The same of a name alone, which begins with its signer's.
Problems bundle_name_problems(std::string_view name);

}  // namespace backplane::workload
