// Counts calls to etcd by the names of gRPC's metrics for clients: grpc_client_started_total and its like.
//
// Thread-safety: any thread.
#pragma once

#include <string_view>

#include "call_status.hpp"

namespace backplane::etcd {

// A call of etcd's services.  Watches are streams both ways; all others have one request and one response.
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
