// Measures the resource use of a server, and sends concurrent requests on many connections.
//
// Thread-safety: functions; for_each() runs its operation on separate threads.
// Errors:        std::runtime_error that names what failed.
#pragma once

#include <functional>
#include <string>

#include "client.hpp"

namespace bench {

struct Usage {
  double cpu_seconds = 0;
  double kernel_seconds = 0;  // the part of cpu_seconds that was spent in the kernel
  long rss_kib = 0;
  long peak_kib = 0;
};
// The resource use of a process.  If `pid` is 0, all values are 0.
Usage usage_of(int pid);

double rounded(double value);
void expect(const Response& response, int code, const char* what);
// Calls `operation` with each number from 0 to count - 1, on `clients` connections at a time.
void for_each(const Endpoint& endpoint, int clients, long count, const std::function<void(Connection&, long)>& operation);

}  // namespace bench
