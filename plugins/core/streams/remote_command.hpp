// Translates between a client that uses WebSocket (v5.channel.k8s.io) and a kubelet that uses SPDY, for a command in a container (upstream:
// StreamTranslatorHandler).
//
// Thread-safety: the executor of the exchange.
// Lifetime:      the task ends when both ends are closed; only calls that are being cancelled may outlive it.
// Errors:        before the client's handshake: the responses of golang.org/x/net/websocket. Later: a Status on the error channel. If the
//                client disconnects, the connection to the kubelet ends.
#pragma once

#include <memory>
#include <string>

#include "backplane/net/client.hpp"
#include "backplane/points/http.hpp"

namespace backplane::core {

struct RemoteCommand {
  std::shared_ptr<HttpClient> kubelet;
  std::string target;  // path?query
  std::string url;     // for errors
  bool in = false, out = false, err = false, tty = false;
};

// True if the client offers the protocol v5.channel.k8s.io, which can close single streams.
bool asks_for_stream_close(const Exchange& exchange);
Task<Status> translate_command(Exchange& exchange, RemoteCommand command);

}  // namespace backplane::core
