// What a server has of its own although its code does not pass it as a parameter: a slot among the servers of the process, and the metric
// values and the log of that slot.  (Its pools are in server_pools.hpp.)  Plugins need none of it for their own variables: each server
// loads its own copy of their code.
//
// What remains of the process, with all its servers:
//   signals        SIGTERM and SIGINT stop one of them (StopEvent); the crash report covers the code of all (plugin_code.hpp)
//   exits          a shutdown that exceeds its limit, or leaves a plugin's call behind, ends the process (stop_deadline.hpp, Server)
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
