// Maintains the record with this server's address. Other servers that share the store read it, to forward requests that only this server
// can serve (upstream: reconcilers.PeerEndpointLeaseController, keys /registry/peerserverleases/IDENTITY).
//
// Thread-safety: one executor. start() is a post-start hook, stop() a pre-shutdown hook.
// Lifetime:      shared by the hooks; its task ends when the stop signal fires.
// Errors:        a failed write is logged and retried.
#pragma once

#include <optional>
#include <string>

#include "backplane/kit/server_identity.hpp"
#include "backplane/net/client.hpp"
#include "namespaces/server_records.hpp"

namespace backplane::core {

class PeerLease {
 public:
  PeerLease(Host& host, ServerRecords records, kit::PeerAddress address);

  // Starts a task that writes the record once the server is ready, and renews it from then on. Does nothing if the address is a loopback
  // address.
  Task<Status> start(PostStartHookContext context);
  // Removes the record; nothing is written afterwards. An error is only logged, because it must not fail a shutdown.
  Task<Status> stop();

 private:
  Task<void> run(Signal& stop);
  Object record() const;

  Host& host_;
  const ServerRecords records_;
  const kit::PeerAddress address_;
  const std::string identity_;
  std::optional<ApiClient> client_;  // set by start()
  bool busy_ = false;                // a write is in progress
  bool stopped_ = false;
};

}  // namespace backplane::core
