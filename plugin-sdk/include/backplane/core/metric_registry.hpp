// The metric values of one server. A metric (name, help, labels) exists once in the process; each server of the process has its own series
// of it. A thread counts for the server whose MetricScope is active on it: the host sets one on each thread of a server, and functions that
// are posted to a pool of the process count for the server that has posted them.
//
// Thread-safety: any thread; a MetricScope belongs to the thread that created it.
// Lifetime:      series outlive the registry that they belong to, so a thread that still counts for a stopped server does no harm.
// Errors:        none; a server that finds all slots in use counts in the series of the process.
#pragma once

#include <cstddef>
#include <vector>

#include "backplane/core/metrics.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// Names the series of one server. 0: those of the process, which every server of it exposes.
using MetricSlot = std::size_t;

// The slot of the calling thread; 0 on a thread that belongs to no server.
MetricSlot current_metric_slot() noexcept;

// Owned by the server. Construct it before the server's threads; destroy it after they have ended.
class MetricRegistry {
 public:
  // Servers with series of their own at a time; further ones share slot 0.
  static constexpr std::size_t kMostServers = 15;

  // Takes a free slot, without any series.
  MetricRegistry();
  ~MetricRegistry();
  MetricRegistry(const MetricRegistry&) = delete;
  MetricRegistry& operator=(const MetricRegistry&) = delete;

  MetricSlot slot() const noexcept { return slot_; }

 private:
  const MetricSlot slot_;
};

// Makes the thread count for one server until the object is destroyed.
//
//   const MetricScope counting(registry.slot());
class MetricScope {
 public:
  explicit MetricScope(MetricSlot slot) noexcept;
  ~MetricScope();
  MetricScope(const MetricScope&) = delete;
  MetricScope& operator=(const MetricScope&) = delete;

 private:
  const MetricSlot previous_;
};

}  // namespace BACKPLANE_API
