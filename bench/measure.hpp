// Resource use of a server, and concurrent requests on many connections.
//
// Thread-safety: functions; for_each() runs its operation on separate threads.
// Errors:        std::runtime_error with what failed.
#pragma once

#include <functional>
#include <string>

#include "client.hpp"

namespace bench {

struct Usage {
  double cpu_seconds = 0;
  double kernel_seconds = 0;  // of those
  long rss_kib = 0;
  long peak_kib = 0;
};
// 0: unknown.
Usage usage_of(int pid);

double rounded(double value);
void expect(const Response& response, int code, const char* what);
// `operation` for 0 … count - 1, over `clients` connections.
void for_each(const Endpoint& endpoint, int clients, long count, const std::function<void(Connection&, long)>& operation);

}  // namespace bench
