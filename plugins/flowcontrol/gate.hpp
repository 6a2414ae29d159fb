// API priority and fairness: finds each request's flow schema and priority level, and admits, queues or refuses it.
//
// The configuration is an immutable snapshot. Each thread caches the last snapshot and, for every request, compares its number with the
// current number. A request that is admitted without waiting takes only the lock of its thread in RunningRequests, which is hardly
// ever contended.
// Thread-safety: requests from any thread; configure(), adjust(), set_stored_counts() and sweep() from one thread at a time.
// Lifetime:      shared; outlives every request between enter() and leave().
// Errors:        none.
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backplane/points/request_gate.hpp"
#include "classifier.hpp"
#include "level.hpp"
#include "rules.hpp"
#include "width.hpp"

namespace backplane::flowcontrol {

// A priority level with its seats.
struct LevelState {
  PriorityLevel configured;
  std::shared_ptr<Level> level;
  bool leaving = false;  // the object no longer exists; the level is removed when it is empty
  int nominal = 0, lower = 0, upper = 0;
  std::uint32_t most_seats = 0;  // the maximum for one request; 0: no maximum
  SmoothedDemand demand;
  double target = 0;
};

class Gate final : public RequestGate {
 public:
  // `seats`: the number of seats of all levels together.  A queued request gives up after a quarter of its time limit, and after one minute
  // at the latest.  The time limit is `request_timeout` if the request has no deadline.
  Gate(int seats, std::chrono::nanoseconds request_timeout, ListCost list_cost = ListCost::kBytes);
  ~Gate() override;

  GateAnswer enter(RequestContext& context, Exchange& exchange, GatePass& pass) override;
  Task<bool> wait(RequestContext& context, Exchange& exchange, GatePass& pass) override;
  void leave(GatePass& pass) noexcept override;
  std::string log_fields(const GatePass& pass) const override;
  std::vector<Metric::Snapshot> measured() const override;

  // Replaces the configuration.  A missing mandatory object is replaced by its built-in spec.  Schemas whose level does not exist are
  // ignored.
  void configure(std::vector<PriorityLevel> levels, std::vector<FlowSchema> schemas);
  // Computes the seats of each level from its demand since the last computation.
  void adjust();
  void set_stored_counts(StoredCounts stored);
  // Removes deleted levels that have become empty, and starts a new period for the maximum number of waiting requests; called every second.
  void sweep();

  std::vector<LevelState> levels() const;
  // A request that holds seats.
  struct RunningRequest {
    std::string level, schema, flow_name;
    int queue = -1;  // the index of its queue in the level; -1: the request was not queued
    std::chrono::system_clock::time_point arrived, begun;
    std::uint32_t seats = 0;
    RequestDetails details;
  };
  std::vector<RunningRequest> running() const;
  double fair_part() const;

 private:
  // The data of one schema, at the index that Classifier::find() returns.
  struct Entry {
    std::string schema_uid;
    std::string level_uid;
    std::shared_ptr<Level> level;
    FlowCounts* counts = nullptr;
    std::uint32_t most_seats = 0;
  };
  struct Snapshot {
    std::uint64_t number = 0;  // unique among all gates of the process, because all gates share the cache of a thread
    Classifier classifier;
    std::vector<Entry> entries;
    std::shared_ptr<const StoredCounts> stored;
  };
  // The number of waiting requests, its maximum since the last sweep(), and its maximum in the period before, which metrics show.
  struct Waiting {
    std::atomic<int> now{0};
    std::atomic<int> highest{0};
    std::atomic<int> shown{0};
  };
  class QueuedRequest;

  const std::shared_ptr<const Snapshot>& snapshot() const;
  std::uint32_t seats_for(const RequestContext& context, const Entry& entry, const StoredCounts& stored) const;
  static void set_flow_headers(Exchange& exchange, const Entry& entry);
  static void refuse(Exchange& exchange, const Entry& entry, RejectReason reason);
  // Fills `pass` with the level and the seats of the request, also for a refused one.
  static void fill(GatePass& pass, const Entry& entry, std::uint32_t seats);
  void admit(GatePass& pass, const RequestContext& context, const Entry& entry, Time arrived, Time now) const;
  Time queue_deadline(const RequestContext& context) const noexcept;

  // Called with mutex_ held:
  void take_levels(std::vector<PriorityLevel> levels);
  void divide();
  void share(Time now);
  void publish();
  void forget_empty();

  const ListCost list_cost_;
  const int seats_;
  const std::chrono::nanoseconds request_timeout_;
  std::atomic<std::uint64_t> number_{0};
  Waiting waiting_[2];  // [0]: reads, [1]: writes

  mutable std::mutex mutex_;  // guards the members below
  std::map<std::string, LevelState> levels_;
  std::vector<FlowSchema> schemas_;
  std::shared_ptr<const StoredCounts> stored_ = std::make_shared<const StoredCounts>();
  std::shared_ptr<const Snapshot> snapshot_;
  double fair_part_ = 0;
};

// The built-in spec of a mandatory object, used while the object does not exist in the store.
PriorityLevel bootstrap_level(std::string_view name);
FlowSchema bootstrap_schema(std::string_view name);

}  // namespace backplane::flowcontrol
