// The server calling itself: through the whole handler chain, as system:apiserver, without a socket.
//
// Thread-safety: request() from any executor.
// Lifetime:      borrows the chain.
// Errors:        as the chain answers.
#pragma once

#include "backplane/hooks.hpp"
#include "backplane/http.hpp"

namespace backplane {

class ChainLoopbackClient final : public LoopbackClient {
 public:
  // `chain` takes every caller for system:apiserver.
  explicit ChainLoopbackClient(HttpHandler& chain) : chain_(chain) {}
  Task<Response> request(std::string method, std::string target, Headers headers, std::string body) override;

 private:
  HttpHandler& chain_;
};

}  // namespace backplane
