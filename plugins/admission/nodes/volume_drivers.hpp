// The CSI drivers of a pod's volumes, which determine the audiences of its tokens.
//
// Thread-safety: pure functions.
// Source:        kubernetes plugin/pkg/admission/noderestriction (podReferencesAudience); k8s.io/csi-translation-lib.
#pragma once

#include "nodes/node_request.hpp"

namespace backplane::admission::nodes {

// Whether a volume of the pod uses a token of that audience: a projected token, or a CSI driver that requests such tokens.
// Errors:        the volumes, claims and drivers that do not exist, if no other volume uses the audience.
Result<bool> pod_uses_audience(const VolumeData& data, const Object& pod, std::string_view audience);

}  // namespace backplane::admission::nodes
