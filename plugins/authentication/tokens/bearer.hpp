// Bearer tokens of requests: the Authorization header, and the WebSocket subprotocol base64url.bearer.authorization.k8s.io.<token>.
//
// Thread-safety: pure functions.
// Errors:        kUnauthorized for a subprotocol that contains no usable token.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "backplane/core/status.hpp"
#include "backplane/points/http.hpp"

namespace backplane::authentication {

struct HeaderToken {
  std::string token;         // empty: none
  bool extra_space = false;  // the header has two spaces before the token: the token is ignored, with a warning
};
HeaderToken header_token(const Exchange& exchange);
// Reads the value of an Authorization header.
HeaderToken token_in(std::string_view authorization);

// Returns the token of the subprotocol. Empty if the request is not a WebSocket handshake or has no such subprotocol.
Result<std::string> websocket_token(const Exchange& exchange);

}  // namespace backplane::authentication
