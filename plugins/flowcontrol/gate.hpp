// API priority and fairness: finds each request's flow schema and priority level, and admits, queues or refuses it.
//
// The configuration is an immutable snapshot. Each thread caches the last snapshot and compares one number for every request; a request
// that need not wait takes no lock.
// Thread-safety: requests from any thread; configure(), adjust(), know_stored() and sweep() from one at a time.
// Lifetime:      shared; outlives every request that is in.
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
  bool leaving = false;  // its object does not exist any more; removed when it is empty
  int nominal = 0, lower = 0, upper = 0;
  std::uint32_t most_seats = 0;  // of one request; 0: not set
  SmoothedDemand demand;
  double target = 0;
};

class Gate final : public RequestGate {
 public:
  // `seats`: of all levels together.  A request that has no deadline waits a quarter of `request_timeout` at most.
  Gate(int seats, std::chrono::nanoseconds request_timeout, ListCost list_cost = ListCost::kBytes);
  ~Gate() override;

  GateAnswer enter(RequestContext& context, Exchange& exchange, GatePass& pass) override;
  Task<bool> wait(RequestContext& context, Exchange& exchange, GatePass& pass) override;
  void leave(GatePass& pass) noexcept override;
  std::string log_fields(const GatePass& pass) const override;
  std::vector<Metric::Snapshot> measured() const override;

  // Replaces the configuration; a missing mandatory object has its built-in spec.  Schemas that name no existing level are left out.
  void configure(std::vector<PriorityLevel> levels, std::vector<FlowSchema> schemas);
  // Lends seats by the demand of the levels since the last call.
  void adjust();
  void know_stored(StoredCounts stored);
  // Removes levels that have become empty, and ends the period of the waiting maximum; called every second.
  void sweep();

  std::vector<LevelState> levels() const;
  // A request that holds seats.
  struct RunningRequest {
    std::string level, schema, flow_name;
    int queue = -1;  // its index in the level; -1: it was not queued
    std::chrono::system_clock::time_point arrived, begun;
    std::uint32_t seats = 0;
    RequestDetails details;
  };
  std::vector<RunningRequest> running() const;
  double fair_part() const;

 private:
  // The data of one schema.
  struct Entry {
    std::string schema_uid;
    std::string level_uid;
    std::shared_ptr<Level> level;
    FlowCounts* counts = nullptr;
    std::uint32_t most_seats = 0;
  };
  struct Snapshot {
    std::uint64_t number = 0;  // unique over all gates
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
  static void tell_where(Exchange& exchange, const Entry& entry);
  static void refuse(Exchange& exchange, const Entry& entry, RejectReason reason);
  // Fills `pass` with the level and the seats of the request, also for a refused one.
  static void fill(GatePass& pass, const Entry& entry, std::uint32_t seats);
  void admit(GatePass& pass, const RequestContext& context, const Entry& entry, Time arrived, Time now) const;
  Time give_up_at(const RequestContext& context) const noexcept;

  // Called with the lock held:
  void take_levels(std::vector<PriorityLevel> levels);
  void divide();
  void share(Time now);
  void publish();
  void forget_empty();

  const ListCost list_cost_;
  const int seats_;
  const std::chrono::nanoseconds request_timeout_;
  std::atomic<std::uint64_t> number_{0};
  Waiting waiting_[2];  // reading, changing

  mutable std::mutex mutex_;  // guards the members below
  std::map<std::string, LevelState> levels_;
  std::vector<FlowSchema> schemas_;
  std::shared_ptr<const StoredCounts> stored_ = std::make_shared<const StoredCounts>();
  std::shared_ptr<const Snapshot> snapshot_;
  double fair_part_ = 0;
};

// Replaces a mandatory bootstrap object until it exists in the store.
PriorityLevel imagined_level(std::string_view name);
FlowSchema imagined_schema(std::string_view name);

}  // namespace backplane::flowcontrol
