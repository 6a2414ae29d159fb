// The run-time state of a priority level: its seats, and the queues of requests that wait for a seat.
//
// While no request waits, a seat is taken and released by atomic operations without a lock. While a request waits, later requests are
// queued in a queue that the flow's hash selects. Seats are assigned to the queues in the order of their virtual time: every active queue
// gets the same number of seat-seconds, regardless of the number and the size of its requests. A request that gets a free seat at once is
// charged to no queue, because no other flow was waiting.
//
// Thread-safety: every method from any thread.
// Lifetime:      outlives every request that holds a seat or waits; close() returns true if there is no such request.
// Errors:        none.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "allocation.hpp"
#include "backplane/core/task.hpp"
#include "demand.hpp"
#include "flow_counts.hpp"
#include "retry_after.hpp"

namespace backplane::flowcontrol {

using Time = std::chrono::steady_clock::time_point;

// The queues for requests that find no free seat.
struct QueueShape {
  int queues = 0;  // 0: requests that find no free seat are refused
  int hand_size = 0;
  int length = 0;
};

class FlowQueue;

// The properties of a request that dumps show.
struct RequestDetails {
  std::string user, verb, path, ns, name, api_version, resource, subresource;
};

// A request that waits, or will wait.
struct Waiter {
  FlowCounts* flow = nullptr;
  std::string schema;
  std::string flow_name;
  std::uint64_t hash = 0;
  std::uint32_t seats = 1;
  RequestDetails details;
  std::chrono::system_clock::time_point arrived = std::chrono::system_clock::now();
  // Set to true when the request gets its seats, and to false when abandon() removes the request.
  Promise<bool> decided;

  FlowQueue* queue = nullptr;  // guarded by the level's lock, like the two members below
  bool waiting = false;
  double arrival = 0;  // the virtual time of enqueue()
};

class Level {
 public:
  // An exempt level has as many seats as its requests need.
  Level(std::string name, bool exempt, Time now);
  ~Level();

  const std::string& name() const noexcept { return name_; }
  bool exempt() const noexcept { return exempt_; }
  void shape(QueueShape shape, Time now);
  // Sets the number of seats, and assigns seats that become free to waiting requests.
  void limit(int seats, Time now);
  int limit() const noexcept { return limit_.load(std::memory_order_relaxed); }

  // ---- a request
  enum class Taken : unsigned char { kTaken, kRefused, kMayQueue, kClosed };
  // kRefused: no seat is free and the level has no queues.  kMayQueue: the caller calls enqueue().
  Taken try_take(std::uint32_t seats, Time now) noexcept;
  void release(std::uint32_t seats, Time now) noexcept;

  enum class Queued : unsigned char { kRuns, kWaits, kQueueFull, kNoSeat, kClosed };
  Queued enqueue(const std::shared_ptr<Waiter>& waiter, Time now);
  // Removes a waiter that gives up. Returns false if the waiter does not wait any more.
  bool abandon(Waiter& waiter, Time now);
  // Ends a request that was queued.
  void finish(FlowQueue* queue, std::uint32_t seats, Time begun, Time now) noexcept;

  // ---- the end of the level
  // Closes the level if no request runs or waits; from then on the level admits no request. Returns false if the level is still in use.
  bool close();
  bool idle() const noexcept { return state_.load(std::memory_order_acquire) == 0; }

  // ---- statistics
  Demand::Period take_demand(Time now) noexcept;
  // The counts of the schema of that name; the first call creates them.
  FlowCounts& counts_of(const std::string& schema);
  std::vector<std::pair<std::string, const FlowCounts*>> all_counts() const;
  RetryAfter& retry_after() noexcept { return retry_after_; }

  struct QueuedRequest {
    std::string schema, flow_name;
    std::chrono::system_clock::time_point arrived;
    std::uint32_t seats;
    RequestDetails details;
  };
  struct QueueDump {
    std::vector<QueuedRequest> waiting;
    int executing = 0, seats_in_use = 0, seats_waiting = 0;
    double next_dispatch = 0, work_waiting = 0;
  };
  std::vector<QueueDump> dump() const;
  int index_of(const FlowQueue* queue) const;  // -1: not a queue of this level
  int waiting() const;
  std::uint64_t abandoned() const;
  double virtual_time() const;

 private:
  // state_ contains the seats in use (bits 0 to 29), the seats that waiting requests need (bits 30 to 59; 0: no request waits), and
  // kClosed.
  static constexpr int kShift = 30;
  static constexpr std::uint64_t kMask = (std::uint64_t{1} << kShift) - 1;
  static constexpr std::uint64_t kClosed = std::uint64_t{1} << 63;
  static std::uint64_t in_use(std::uint64_t state) noexcept { return state & kMask; }
  static std::uint64_t waited_for(std::uint64_t state) noexcept { return state >> kShift & kMask; }
  static std::uint64_t demand_of(std::uint64_t state) noexcept { return in_use(state) + waited_for(state); }
  static std::uint64_t wait_for(std::uint32_t seats) noexcept { return std::uint64_t{seats} << kShift; }

  bool fits(std::uint64_t state, std::uint32_t seats, bool queued) const noexcept;
  std::uint64_t add(std::uint64_t change, Time now) noexcept;
  bool take_from(std::uint64_t& state, std::uint32_t seats, Time now) noexcept;
  // Called with mutex_ held:
  void pass_time(Time now) noexcept;
  FlowQueue& choose_queue(std::uint64_t hash) noexcept;
  FlowQueue* next_queue() noexcept;
  using Decided = std::vector<std::shared_ptr<Waiter>>;
  Decided dispatch(Time now);
  void drop_if_surplus(FlowQueue* queue);
  // Called without mutex_:
  static void notify(const Decided& decided);

  const std::string name_;
  const bool exempt_;
  std::atomic<int> limit_{0};
  std::atomic<bool> queues_wanted_{false};
  alignas(64) std::atomic<std::uint64_t> state_{0};
  Demand demand_;
  RetryAfter retry_after_;

  mutable std::mutex mutex_;  // guards the members below
  QueueShape shape_;
  std::vector<std::unique_ptr<FlowQueue>> queues_;
  int waiting_ = 0;
  int active_queues_ = 0;    // queues with waiting or running requests
  int seats_requested_ = 0;  // seats that the requests of active queues need
  std::uint64_t enqueued_ = 0;
  std::uint64_t abandoned_ = 0;
  std::size_t robin_ = 0;
  double virtual_time_ = 0;  // seat-seconds per active queue since the start
  Time last_;
  std::map<std::string, std::unique_ptr<FlowCounts>> counts_;
};

}  // namespace backplane::flowcontrol
