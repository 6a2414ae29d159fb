// SPDY inside of a WebSocket ("SPDY/3.1+portforward.k8s.io"), unwrapped for a kubelet that supports only SPDY: upstream's TunnelingHandler.
// The bytes of the binary messages are the SPDY connection.
//
// Thread-safety: the executor of the exchange.
// Lifetime:      the task ends when one side has ended; only a call that is being cancelled may outlive it.
// Errors:        until the kubelet has agreed: the Status with the reason, or the kubelet's response.
#pragma once

#include <memory>
#include <string>

#include "backplane/net/client.hpp"
#include "backplane/points/http.hpp"

namespace backplane::core {

bool asks_for_tunnel(const Exchange& exchange);
// `target`: path?query at the kubelet.
Task<Status> tunnel_spdy(Exchange& exchange, std::shared_ptr<HttpClient> kubelet, std::string target);

}  // namespace backplane::core
