// The rights that every node has, independent of the NodeGraph (upstream: the rules of nodes in RBAC's bootstrap policy).
//
// Thread-safety: immutable.
// Source:        kubernetes plugin/pkg/auth/authorizer/rbac/bootstrappolicy/policy.go, NodeRules.
#pragma once

#include "backplane/points/authorization.hpp"

namespace backplane::authorization {

// Feature gates that add rules.
struct NodeFeatures {
  bool cluster_trust_bundles = false;
  bool credential_provider_tokens = true;
  bool pod_certificate_requests = false;
};

bool node_rules_allow(const RequestView& request, const NodeFeatures& features);

}  // namespace backplane::authorization
