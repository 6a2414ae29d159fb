// Counts calls to etcd in metrics that have the names of gRPC's client metrics, such as grpc_client_started_total.
//
// Thread-safety: any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <string_view>

#include "backplane/core/metric_cell.hpp"
#include "call_status.hpp"

namespace backplane::etcd {

// The methods of etcd that this store calls.
enum class MethodId : unsigned char { kRange, kTxn, kCompact, kLeaseGrant, kStatus, kWatch };
inline constexpr std::size_t kMethods = 6;

// A method of etcd's services.  Watch is a bidirectional stream (`streams`); every other method has one request and one response.
struct Method {
  MethodId id;
  std::string_view service, name, path;
  bool streams = false;
};

inline constexpr Method kWatchMethod{MethodId::kWatch, "etcdserverpb.Watch", "Watch", "/etcdserverpb.Watch/Watch", true};

// The counts of one store. Each time series is looked up once, when it is first counted.
class CallCounts {
 public:
  void started(const Method& method) { add(kStarted, method); }
  void sent(const Method& method) { add(kSent, method); }
  void received(const Method& method) { add(kReceived, method); }
  void handled(const Method& method, const CallStatus& status);

 private:
  enum Event : unsigned char { kStarted, kSent, kReceived, kHandledOk };
  using Cells = std::array<std::atomic<MetricCell*>, kHandledOk + 1>;  // index: Event; null: not looked up yet
  void add(Event event, const Method& method) {
    if (MetricCell* const cell = cell_of(event, method).load(std::memory_order_acquire)) return cell->add();
    add_first(event, method);
  }
  void add_first(Event event, const Method& method);
  std::atomic<MetricCell*>& cell_of(Event event, const Method& method) { return cells_[static_cast<std::size_t>(method.id)][event]; }

  std::array<Cells, kMethods> cells_{};
};

}  // namespace backplane::etcd
