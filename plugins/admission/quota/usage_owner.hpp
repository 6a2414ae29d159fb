// metadata.managedFields of a quota whose usage admission changes: the changed amounts belong to the manager kube-apiserver, as after
// upstream's update of the status.
//
// Thread-safety: pure.
// Errors:        none; entries without readable fields are unchanged.
// Source:        apimachinery's managedfields; resourceQuotaAccessor.UpdateQuotaStatus.
#pragma once

#include "common/resource_list.hpp"

namespace backplane::admission::quota {

// Moves status.used.NAME of each of `names` from its owner to kube-apiserver. `time`: of the entry, RFC 3339.
void own_used(Object& quota, const ResourceNames& names, std::string_view time);

}  // namespace backplane::admission::quota
