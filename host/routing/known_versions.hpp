// The group versions that OpenAPI documents list for the kinds that every group version has: DeleteOptions and WatchEvent.
//
// Thread-safety: pure functions of an immutable table.
#pragma once

#include <string_view>

#include "routing/route_table.hpp"

namespace backplane {

// x-kubernetes-group-version-kind of `kind` in /openapi/v2: every group version that kube-apiserver has types for, and every group version
// of `table` that is not a custom resource's.
Array kinds_of_all_versions(const RouteTable& table, std::string_view kind);
// The same in the v3 document of a group of custom resources: the group versions that client-go has types for.
Array kinds_of_client_versions(std::string_view kind);

}  // namespace backplane
