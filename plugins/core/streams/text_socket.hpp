// Sends a text over a WebSocket. Each piece is one message: a binary message, or, for the protocol "base64.binary.k8s.io", a text message
// in base64.
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
