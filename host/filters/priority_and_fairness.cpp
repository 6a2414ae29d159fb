// WithPriorityAndFairness (--enable-priority-and-fairness): requests must pass the RequestGate of a plugin. Short requests occupy the gate
// until they end, watches until their initial events are written. Refused requests get 429.
#include <memory>

#include "base/origin_executor.hpp"
#include "endpoints/request_series.hpp"
#include "filters/filter_exchange.hpp"
#include "filters/filters.hpp"
#include "filters/log.hpp"

namespace backplane {
namespace {

using Clock = std::chrono::steady_clock;

// True if WithHTTPLogging will write the access-log line.
bool wants_fields(const FilterCall& call) { return call.notes != nullptr && filters_log().should_log(LogLevel::kDebug); }

void add_duration(std::string& fields, std::string_view key, Clock::duration took) {
  fields += fmt::format(" {}=\"{:.3f}ms\"", key, std::chrono::duration<double, std::milli>(took).count());
}

// An admitted request. leave() leaves the gate on its first call only.
struct Admitted {
  RequestGate& gate;
  InFlightLimits* in_flight;
  bool mutating;
  GatePass pass;
  std::shared_ptr<std::string> log_fields;  // null: no access-log line is written
  Clock::time_point began = Clock::now();
  bool in = true;

  void leave() noexcept {
    if (!std::exchange(in, false)) return;
    if (log_fields != nullptr) note();
    if (in_flight != nullptr) in_flight->leave(mutating);
    gate.leave(pass);
  }

 private:
  void note() noexcept {
    try {
      *log_fields = gate.log_fields(pass);
      add_duration(*log_fields, "apf_init_latency", Clock::now() - began);
      add_duration(*log_fields, "apf_execution_time", Clock::now() - began);
    } catch (const std::exception&) {
      // The access-log line is written without these fields.
    }
  }
};

// The exchange of a watch. The watch leaves the gate when its initial events are written, i.e. when a write has ended and no other write
// begins in the same turn of the executor.
class BeginningWatch final : public FilterExchange {
 public:
  BeginningWatch(Exchange& inner, std::shared_ptr<Admitted> admitted) : FilterExchange(inner), admitted_(std::move(admitted)) {}
  BeginningWatch(const BeginningWatch&) = delete;
  BeginningWatch& operator=(const BeginningWatch&) = delete;
  ~BeginningWatch() override { admitted_->leave(); }  // also if the watch never starts

  Task<Status> start(int code, std::string_view content_type) override {
    co_await origin_;
    Status status = co_await inner().start(code, content_type);
    schedule_leave();
    co_return status;
  }
  Task<Status> switch_protocols(std::string_view protocol) override {
    co_await origin_;
    Status status = co_await inner().switch_protocols(protocol);
    schedule_leave();
    co_return status;
  }
  Task<Status> write(std::vector<SharedBytes> chunks) override {
    // Admitted::in and *writes_ may be used on the connection's executor only, but a handler may write on another executor.
    if (origin_.await_ready() && !admitted_->in) return inner().write(std::move(chunks));
    return first_writes(std::move(chunks));
  }

 private:
  Task<Status> first_writes(std::vector<SharedBytes> chunks) {
    co_await origin_;
    ++*writes_;
    Status status = co_await inner().write(std::move(chunks));
    ++*writes_;
    schedule_leave();
    co_return status;
  }
  // The posted function runs after the work that this thread has already queued. If the writer has more data, it has begun its next write
  // by then. If another thread resumes the writer, the watch may leave the gate too early.
  void schedule_leave() {
    if (!admitted_->in) return;
    Executor* executor = current_executor();
    if (executor == nullptr) return admitted_->leave();
    executor->post([admitted = admitted_, writes = writes_, seen = *writes_] {
      if (*writes == seen) admitted->leave();
    });
  }

  const OriginExecutor origin_;
  const std::shared_ptr<Admitted> admitted_;
  const std::shared_ptr<unsigned> writes_ = std::make_shared<unsigned>(0);  // the number of started and of ended writes
};

class PriorityAndFairness final : public Filter {
 public:
  PriorityAndFairness(RequestGate& gate, InFlightLimits* in_flight, RequestMetrics* metrics)
      : gate_(gate), in_flight_(in_flight), metrics_(metrics) {}

  Step enter(FilterCall& call) const override {
    if (call.context.long_running && !is_watch(call)) return Step::kNext;
    switch (gate_.enter(call.context, call.exchange(), call.pass)) {
      case GateAnswer::kEnter:
        return admitted(call);
      case GateAnswer::kWait:
        return Step::kAwait;
      case GateAnswer::kRefuse:
        break;
    }
    return refused(call);
  }

  Task<Step> enter_slowly(FilterCall& call) const override {
    const auto began = Clock::now();
    auto waiting = gate_.wait(call.context, call.exchange(), call.pass);
    const bool in = co_await std::move(waiting);
    call.context.latencies.queue_wait = Clock::now() - began;
    if (call.notes != nullptr) call.notes->waited = call.context.latencies.queue_wait;
    co_return in ? admitted(call) : refused(call);
  }

  void leave(FilterCall& call) const noexcept override {
    if (in_flight_ != nullptr) in_flight_->leave(is_mutating(call.context.info.verb));
    if (wants_fields(call)) note(call, true);
    gate_.leave(call.pass);
  }

  Task<void> around(FilterCall& call, Rest rest) const override {
    const auto fields = wants_fields(call) ? std::make_shared<std::string>() : nullptr;
    auto admitted = std::make_shared<Admitted>(Admitted{gate_, in_flight_, false, call.pass, fields});
    {
      BeginningWatch beginning(call.exchange(), admitted);
      const ExchangeScope exchange_scope(call.context, beginning);
      co_await rest.run(call);
    }
    if (fields != nullptr) call.notes->log_fields += *fields;
  }

 private:
  static bool is_watch(const FilterCall& call) noexcept { return call.context.info.verb == "watch"; }
  Step admitted(FilterCall& call) const noexcept {
    if (metrics_ != nullptr) metrics_->access.observe_wait(call.notes != nullptr ? call.notes->waited : std::chrono::nanoseconds());
    if (in_flight_ != nullptr) in_flight_->enter(is_mutating(call.context.info.verb));
    return is_watch(call) ? Step::kAround : Step::kNextThenLeave;
  }
  void note(FilterCall& call, bool ran) const noexcept {
    try {
      std::string& fields = call.notes->log_fields.append(gate_.log_fields(call.pass));
      if (ran) add_duration(fields, "apf_execution_time", Clock::now() - call.pass.begun);
    } catch (const std::exception&) {
      // The access-log line is written without these fields.
    }
  }
  Step refused(FilterCall& call) const {
    count_dropped(call.context.info, call.exchange());
    count_terminated(call.context.info, call.exchange(), 429);
    if (wants_fields(call)) note(call, false);
    call.refusal = Refusal::plain(429, "Too many requests, please try again later.");
    return Step::kRefuse;
  }

  RequestGate& gate_;
  InFlightLimits* const in_flight_;
  RequestMetrics* const metrics_;
};

}  // namespace

FilterPtr with_priority_and_fairness(const ChainConfig& config) {
  if (config.gate == nullptr) return nullptr;
  return std::make_unique<PriorityAndFairness>(*config.gate, config.in_flight, config.metrics);
}

}  // namespace backplane
