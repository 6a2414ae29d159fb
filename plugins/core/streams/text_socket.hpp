// Sends a text over a WebSocket: each piece is a message, binary or, for "base64.binary.k8s.io", base64 in text.
//
// Thread-safety: the executor of the exchange.
// Lifetime:      the task ends when the text ends or the client disconnects; the source is then dropped.
// Errors:        errors of the handshake: the responses of golang.org/x/net/websocket.
#pragma once

#include <memory>

#include "backplane/net/client.hpp"
#include "backplane/points/http.hpp"

namespace backplane::core {

Task<Status> stream_to_websocket(Exchange& exchange, std::unique_ptr<HttpAnswer> source);

}  // namespace backplane::core
