// Counts calls to etcd in metrics with the names of gRPC's client metrics, e.g. grpc_client_started_total.
//
// Thread-safety: any thread.
#pragma once

#include <string_view>

#include "call_status.hpp"

namespace backplane::etcd {

// A call of etcd's services. Watches are bidirectional streams; all other calls are unary.
struct Method {
  std::string_view service, name, path;
  bool streams = false;
};

inline constexpr Method kWatchMethod{"etcdserverpb.Watch", "Watch", "/etcdserverpb.Watch/Watch", true};

void count_started(const Method& method);
void count_sent(const Method& method);
void count_received(const Method& method);
void count_handled(const Method& method, const CallStatus& status);

}  // namespace backplane::etcd
