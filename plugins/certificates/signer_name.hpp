// Names of signers: "example.com/signer".
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "backplane/status.hpp"

namespace backplane::certificates {

void check_signer_name(const std::string& path, std::string_view name, FieldErrors& errors);
// One of Kubernetes' own.
bool is_kubernetes_signer(std::string_view name) noexcept;
// The domain in front of the slash.
std::string_view signer_domain(std::string_view name) noexcept;

}  // namespace backplane::certificates
