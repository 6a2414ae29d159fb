// Tokens of service accounts that nodes request: only for pods that run on the node, and for audiences that their volumes use.
//
// Thread-safety: pure functions of the request and the caches.
// Source:        kubernetes plugin/pkg/admission/noderestriction (admitServiceAccount).
#pragma once

#include <optional>

#include "backplane/points/authorization.hpp"
#include "nodes/node_request.hpp"

namespace backplane::admission::nodes {

struct TokenDecision {
  Status refusal;
  // Set: no volume of the pod uses the audience, so the node needs the right to request it.
  std::optional<AuthorizationAttributes> needs_right;
};
TokenDecision restrict_token(const NodeRequest& request);
// The final decision after the authorizer has returned `result` for `right`.
Status conclude_token(const NodeRequest& request, const AuthorizationAttributes& right, const AuthorizerResult& result);

}  // namespace backplane::admission::nodes
