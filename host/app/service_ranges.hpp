// --service-cluster-ip-range: what it may say, and the address of the kubernetes service in it.
//
// Thread-safety: pure functions.
// Errors:        problems in upstream's words (cmd/kube-apiserver/app/options).
#pragma once

#include <string>
#include <string_view>

#include "app/options.hpp"

namespace backplane {

// Adds what is wrong with the flag's value: not a CIDR, more than two, two of one family, fewer than eight addresses.  Empty is fine.
void validate_service_ranges(std::string_view value, Problems& problems);

// The first address of the first range, which the kubernetes service gets; empty when there is no valid one.
std::string first_service_address(std::string_view value);

}  // namespace backplane
