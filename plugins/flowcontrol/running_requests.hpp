// The requests that hold seats, for /debug/api_priority_and_fairness/dump_requests.
//
// Each thread has a set of places, one place for each request. A mutex guards the set; only a dump, or a request that ends on another
// thread, contends for it. The next new thread reuses the set of a thread that has ended.
// Thread-safety: every method from any thread.
// Lifetime:      a place borrows the request's context until leave().
// Errors:        none.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "backplane/core/request.hpp"
#include "backplane/points/request_gate.hpp"

namespace backplane::flowcontrol {

class RunningRequests {
 public:
  using Time = std::chrono::steady_clock::time_point;
  struct Place {
    const void* gate = nullptr;  // null: the place is free
    const RequestContext* context = nullptr;
    GatePass pass;
    Time arrived;
    std::vector<Place*>* free = nullptr;  // the free list of the set that contains the place
    std::mutex* mutex = nullptr;
  };

  // Stores the place in `pass.note`.
  static void enter(const void* gate, const RequestContext& context, GatePass& pass, Time arrived);
  static void leave(GatePass& pass) noexcept;
  // Calls `show` with every place that belongs to the gate; the place cannot be freed during the call.
  static void all(const void* gate, const std::function<void(const Place&)>& show);
  // The number of sets, for tests.
  static std::size_t sets();
};

}  // namespace backplane::flowcontrol
