// The state of one server that code reads through the thread's server slot (core/server_slot.hpp) and not through a parameter: the slot,
// the metric values and the log. (The pools of a server are in server_pools.hpp.) Global variables of plugins need no slot: each server
// loads a separate copy of the plugins' code.
//
// What all servers of the process share:
//   signals        SIGTERM and SIGINT stop one of them (StopEvent); the crash report covers the code of all (plugin_code.hpp)
//   exits          a shutdown that exceeds its limit, or during which a plugin's call does not return, ends the process
//                  (stop_deadline.hpp, Server)
//   memory         malloc and its trimming (FreeMemory), OpenSSL's buffers (tls_memory.hpp), caches of threads
//   dynamic loader one library at a time (loader.cpp)
//   streams        standard error and output (log_streams.hpp)
//   descriptions   names, texts and labels of metrics; schemas and codecs that are compiled in
//
// Thread-safety: constructed before the server's threads and destroyed after they have ended.
// Lifetime:      owned by the server.
// Errors:        make(): kInternalError if the process has kMostServers servers already.
#pragma once

#include <memory>

#include "backplane/core/metric_registry.hpp"
#include "backplane/core/server_slot.hpp"
#include "backplane/core/status.hpp"

namespace backplane {

class ServerContext {
 public:
  static Result<std::unique_ptr<const ServerContext>> make();
  ~ServerContext();
  ServerContext(const ServerContext&) = delete;
  ServerContext& operator=(const ServerContext&) = delete;

  ServerSlot slot() const noexcept { return identity_.slot(); }

 private:
  ServerContext() = default;

  ServerIdentity identity_;
  MetricRegistry metrics_{identity_.slot()};
};

}  // namespace backplane
