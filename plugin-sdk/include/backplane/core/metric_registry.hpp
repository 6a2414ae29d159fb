// The metric values of one server. A metric (name, help, labels) exists once in the process; each server of the process has separate
// series of it. A thread counts for the server whose slot it has (server_slot.hpp).
//
// Thread-safety: any thread.
// Lifetime:      series outlive the registry that they belong to, so a thread may still count for a stopped server.
// Errors:        none.
#pragma once

#include "backplane/core/metrics.hpp"
#include "backplane/core/server_slot.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// Owned by the server, next to its ServerIdentity. At its end the series of the slot are dropped: the next server of the slot begins
// without any. Without a slot (kNoServer) it does nothing: that server counts in the series of the process, which every server exposes.
class MetricRegistry {
 public:
  explicit MetricRegistry(ServerSlot slot) noexcept : slot_(slot) {}
  ~MetricRegistry();
  MetricRegistry(const MetricRegistry&) = delete;
  MetricRegistry& operator=(const MetricRegistry&) = delete;

 private:
  const ServerSlot slot_;
};

}  // namespace BACKPLANE_API
