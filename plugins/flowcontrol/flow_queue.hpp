// One queue of a priority level.
//
// Thread-safety: guarded by the lock of its Level.
#pragma once

#include <algorithm>
#include <deque>
#include <memory>

#include "level.hpp"

namespace backplane::flowcontrol {

// The assumed duration of a request, until its duration is known.
inline constexpr double kEstimatedSeconds = 0.003;

class FlowQueue {
 public:
  std::deque<std::shared_ptr<Waiter>> waiting;
  int executing = 0;
  int seats_in_use = 0;
  int seats_waiting = 0;
  double next_dispatch = 0;  // the virtual time at which the next request of the queue begins

  bool empty() const noexcept { return waiting.empty() && executing == 0; }
  int seats_requested() const noexcept { return seats_in_use + seats_waiting; }
  double work_waiting() const noexcept { return seats_waiting * kEstimatedSeconds; }
  double finish_of_first() const noexcept { return next_dispatch + waiting.front()->seats * kEstimatedSeconds; }
  // Moves next_dispatch to the arrival of the first waiting request, so that an empty queue accumulates no credit.
  void not_before_arrival() noexcept {
    if (!waiting.empty()) next_dispatch = std::max(next_dispatch, waiting.front()->arrival);
  }
};

}  // namespace backplane::flowcontrol
