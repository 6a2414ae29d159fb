// A request that never sees a socket: runs a handler in this process and collects its response.  For the loopback client and tests.
//
// Thread-safety: call it on an executor; the handler runs there.
// Lifetime:      the handler outlives the call.
// Errors:        an exception of the handler is logged and gives code 500; so does a handler that leaves no response.
#pragma once

#include <memory>

#include "backplane/hooks.hpp"
#include "http/http_exchange.hpp"

namespace backplane {

struct LocalRequest {
  std::string method = "GET";
  std::string target = {};
  Headers headers = {};
  std::string body = {};
  // Who calls: a certificate here is taken as verified.
  std::shared_ptr<const PeerInfo> peer = std::make_shared<PeerInfo>();
};

// The whole response, streamed ones to their end.
Task<LoopbackClient::Response> run_local_request(HttpHandler& root, LocalRequest request);

}  // namespace backplane
