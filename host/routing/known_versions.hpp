// The kinds DeleteOptions and WatchEvent belong to every group version. These functions return the list of group versions that OpenAPI
// documents have for these kinds.
//
// Thread-safety: pure functions of an immutable route table.
#pragma once

#include <string_view>

#include "routing/route_table.hpp"

namespace backplane {

// Returns x-kubernetes-group-version-kind of `kind` for /openapi/v2. The list has every group version for which kube-apiserver has types,
// and every group version of `table` that does not consist of custom resources.
Array kinds_of_all_versions(const RouteTable& table, std::string_view kind);
// Returns the list for the v3 document of a group of custom resources: the group versions for which client-go has types.
Array kinds_of_client_versions(std::string_view kind);

}  // namespace backplane
