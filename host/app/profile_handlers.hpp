// /debug/pprof/: profiles of this process in the format of `go tool pprof`, under the names that Go's runtime uses.
//
//   profile       processor time by stack, over ?seconds= (default: 30)
//   heap, allocs  bytes of malloc's arenas; ?debug=1: malloc_info(3)
//   goroutine     stacks of all threads, and how many requests, watches and plugin tasks are in progress; ?debug=1, ?debug=2: text
//   threadcreate  threads by name, with the processor time of each; ?debug=1: text
//   threads       the same as text
//   block, mutex  waits for locks by stack, with --contention-profiling; ?debug=1: text
//   symbol        names of functions by address
//   cmdline       the command line; only on the debug socket
//
// Thread-safety: any number of requests at once; one processor profile at a time.
// Lifetime:      handlers are shared with the route table; what `activities` refers to outlives them.
// Errors:        as Go's net/http/pprof: 404 for an unknown name, 500 while another processor profile is recorded, 400 for ?seconds= of
//                other profiles. `trace` returns 501: execution traces exist only in Go's runtime.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "backplane/points/paths.hpp"

namespace backplane {

// Work in progress that waits without a thread: {"WATCH pods", "requests that stay open", 3}.
struct Activity {
  std::string name, kind;
  std::int64_t count = 0;
};
// Called on the thread of a request.
using Activities = std::function<std::vector<Activity>()>;

std::vector<PathRoute> profile_routes(Activities activities, bool on_socket);

}  // namespace backplane
