// What NodeRestriction allows nodes to do with each resource. Each function returns success or the refusal.
//
// Thread-safety: pure functions of the request and the caches.
// Source:        kubernetes plugin/pkg/admission/noderestriction.
#pragma once

#include "nodes/node_request.hpp"

namespace backplane::admission::nodes {

// ---- restrict_pods.cpp: mirror pods of the node, the status of its pods, and their eviction
Status restrict_pod(const NodeRequest& request);
// ---- restrict_node.cpp: the node's own object, except taints, owners and labels that steer workloads
Status restrict_node(const NodeRequest& request);
// ---- restrict_claims.cpp: the status of claims, for the expansion of volumes
Status restrict_claim(const NodeRequest& request);
// ---- restrict_owned.cpp: objects that belong to the node by their name or a field
Status restrict_lease(const NodeRequest& request);
Status restrict_csi_node(const NodeRequest& request);
Status restrict_resource_slice(const NodeRequest& request);
// ---- restrict_certificates.cpp
Status restrict_signing_request(const NodeRequest& request);
Status restrict_pod_certificate(const NodeRequest& request);

}  // namespace backplane::admission::nodes
