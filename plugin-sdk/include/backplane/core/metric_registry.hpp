// The metric values of one server. A metric (name, help, labels) exists once in the process; each server of the process has its own series
// of the metric. A thread counts in the series of the server whose slot the thread has (server_slot.hpp).
//
// Thread-safety: any thread.
// Lifetime:      series outlive the MetricRegistry, so that a thread may still count for a stopped server.
// Errors:        none.
#pragma once

#include "backplane/core/metrics.hpp"
#include "backplane/core/server_slot.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// The server owns it, together with its ServerIdentity. The destructor detaches the series of the slot, so that the next server with the
// slot begins without series. With the slot kNoServer it does nothing: such a server counts in the series of the process, which every
// server exposes.
class MetricRegistry {
 public:
  explicit MetricRegistry(ServerSlot slot) noexcept : slot_(slot) {}
  ~MetricRegistry();
  MetricRegistry(const MetricRegistry&) = delete;
  MetricRegistry& operator=(const MetricRegistry&) = delete;

 private:
  const ServerSlot slot_;
};

// Ends the use of metrics by the code of the mapped file that contains `code`, because the code will be unmapped. Removes all series of the
// metrics that no other mapped file uses; Metric::all() no longer returns these metrics. Precondition: the code no longer runs.
void withdraw_metrics(const void* code);

}  // namespace BACKPLANE_API
