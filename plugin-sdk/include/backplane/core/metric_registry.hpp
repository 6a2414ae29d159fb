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

// Ends the use of metrics by the mapped file that contains `code`, because the file will be unmapped. The file that contains `successor`,
// if it is not null, uses these metrics from then on, except those that it has asked for with another kind, labels or bounds. Metrics
// without a user lose their series, and Metric::all() no longer returns them. A MetricCell of these series lives as long as the result:
// keep it until the code no longer runs.
[[nodiscard]] std::shared_ptr<void> withdraw_metrics(const void* code, const void* successor = nullptr);

}  // namespace BACKPLANE_API
