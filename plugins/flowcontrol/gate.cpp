#include "gate.hpp"

#include <algorithm>

#include "flow_queue.hpp"
#include "running_requests.hpp"
#include "shuffle.hpp"

namespace backplane::flowcontrol {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::minutes kLongestWait{1};
// Names in log lines are truncated to this length.
constexpr std::size_t kMostShown = 64;

// Header names in Go's canonical form.
constexpr const char* kLevelHeader = "X-Kubernetes-Pf-Prioritylevel-Uid";
constexpr const char* kSchemaHeader = "X-Kubernetes-Pf-Flowschema-Uid";

// Bits of GatePass::kind.
constexpr std::uint32_t kWatch = 1, kOwn = 2;

// Requests of the user system:apiserver take no seats of the exempt level, which clients share, because the controllers of the server send
// hundreds of requests at startup.
bool is_own(const Level& level, const RequestContext& context) { return level.exempt() && context.user->name == "system:apiserver"; }

RequestDetails details_of(const RequestContext& context) {
  const RequestInfo& info = context.info;
  return {context.user->name, info.verb,       info.path, info.ns, info.name, info.gvr().group_version().to_string(),
          info.resource,      info.subresource};
}

bool is_mutating(std::string_view verb) noexcept { return verb != "get" && verb != "list" && verb != "watch"; }

}  // namespace

Gate::Gate(int seats, std::chrono::nanoseconds request_timeout, ListCost list_cost)
    : list_cost_(list_cost), seats_(seats), request_timeout_(request_timeout) {
  configure({}, {});
}
Gate::~Gate() = default;

// ---- the snapshot

const std::shared_ptr<const Gate::Snapshot>& Gate::snapshot() const {
  thread_local std::shared_ptr<const Snapshot> seen;
  if (seen == nullptr || seen->number != number_.load(std::memory_order_acquire)) {
    const std::lock_guard lock(mutex_);
    seen = snapshot_;
  }
  return seen;
}

// ---- a request

std::uint32_t Gate::seats_for(const RequestContext& context, const Entry& entry, const StoredCounts& stored) const {
  const std::string_view verb = context.info.verb;
  if (verb != "list" && verb != "watch") return 1;
  return list_width(context.info, stored, entry.most_seats, list_cost_);
}

void Gate::set_flow_headers(Exchange& exchange, const Entry& entry) {
  exchange.add_response_header(kLevelHeader, entry.level_uid);
  exchange.add_response_header(kSchemaHeader, entry.schema_uid);
}

void Gate::refuse(Exchange& exchange, const Entry& entry, RejectReason reason) {
  entry.counts->rejected[reason].fetch_add(1, std::memory_order_relaxed);
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const std::int64_t seconds = entry.level->retry_after().refused(std::chrono::duration_cast<std::chrono::seconds>(now).count());
  set_flow_headers(exchange, entry);
  exchange.set_response_header("Retry-After", std::to_string(seconds));
}

void Gate::fill(GatePass& pass, const Entry& entry, std::uint32_t seats) {
  pass.place = entry.level.get();
  pass.flow = entry.counts;
  pass.seats = seats;
}

void Gate::admit(GatePass& pass, const RequestContext& context, const Entry& entry, Time arrived, Time now) const {
  pass.begun = now;
  pass.kind = (context.info.verb == "watch" ? kWatch : 0) | (is_own(*entry.level, context) ? kOwn : 0);
  entry.counts->entered(pass.seats);
  RunningRequests::enter(this, context, pass, arrived);
}

std::string Gate::log_fields(const GatePass& pass) const {
  if (pass.place == nullptr) return {};
  const auto shown = [](std::string_view name) { return quoted(name.substr(0, kMostShown)); };
  return " apf_pl=" + shown(static_cast<const Level*>(pass.place)->name()) +
         " apf_fs=" + shown(static_cast<const FlowCounts*>(pass.flow)->schema) + " apf_iseats=" + std::to_string(pass.seats) +
         " apf_fseats=0 apf_additionalLatency=\"0s\"";
}

GateAnswer Gate::enter(RequestContext& context, Exchange& exchange, GatePass& pass) {
  const Time now = Clock::now();
  for (;;) {
    const Snapshot& known = *snapshot();
    const Entry& entry = known.entries[known.classifier.find(context.user, context.info)];
    const std::uint32_t seats = seats_for(context, entry, *known.stored);
    fill(pass, entry, seats);
    switch (entry.level->try_take(is_own(*entry.level, context) ? 0 : seats, now)) {
      case Level::Taken::kTaken:
        if (seats > 1) entry.counts->wide.observe(seats, seats);
        admit(pass, context, entry, now, now);
        set_flow_headers(exchange, entry);
        return GateAnswer::kEnter;
      case Level::Taken::kRefused:
        refuse(exchange, entry, kConcurrencyLimit);
        return GateAnswer::kRefuse;
      case Level::Taken::kMayQueue:
        return GateAnswer::kWait;
      case Level::Taken::kClosed:
        break;  // a newer snapshot does not have the level
    }
  }
}

void Gate::leave(GatePass& pass) noexcept {
  auto* level = static_cast<Level*>(std::exchange(pass.place, nullptr));
  if (level == nullptr) return;
  RunningRequests::leave(pass);
  const Time now = Clock::now();
  static_cast<FlowCounts*>(pass.flow)->left(pass.seats, (pass.kind & kWatch) != 0, now - pass.begun);
  if (pass.queue != nullptr) return level->finish(static_cast<FlowQueue*>(pass.queue), pass.seats, pass.begun, now);
  level->release((pass.kind & kOwn) != 0 ? 0 : pass.seats, now);
}

// The time at which a queued request gives up: a quarter of its time limit after its arrival, and at most one minute after it.
Time Gate::queue_deadline(const RequestContext& context) const noexcept {
  const bool limited = context.deadline != Time::max();
  const auto limit = (limited ? context.deadline - context.received : request_timeout_) / 4;
  return context.received + std::min<std::chrono::nanoseconds>(limit, kLongestWait);
}

// A queued request. It leaves the queue at the end of its wait, or when the client disconnects.
class Gate::QueuedRequest {
 public:
  QueuedRequest(std::shared_ptr<Level> level, std::shared_ptr<Waiter> waiter, Exchange& exchange, Time until) {
    const auto abandon = [level = std::move(level), waiter = std::move(waiter)] { level->abandon(*waiter, Clock::now()); };
    if (Executor* executor = current_executor()) {
      stop_timer_ = executor->after(std::max<std::chrono::nanoseconds>(until - Clock::now(), std::chrono::nanoseconds::zero()), abandon);
    }
    closed_ = exchange.on_close(abandon);
    if (exchange.closed()) abandon();
  }
  ~QueuedRequest() {
    if (stop_timer_) stop_timer_();
  }
  QueuedRequest(const QueuedRequest&) = delete;
  QueuedRequest& operator=(const QueuedRequest&) = delete;

 private:
  CloseSubscription closed_;
  std::function<void()> stop_timer_;
};

std::vector<Gate::RunningRequest> Gate::running() const {
  const auto known = snapshot();
  const auto now = Clock::now();
  const auto wall = [now, at = std::chrono::system_clock::now()](Time time) {
    return at - std::chrono::duration_cast<std::chrono::system_clock::duration>(now - time);
  };
  std::vector<RunningRequest> out;
  RunningRequests::all(this, [&](const RunningRequests::Place& place) {
    const auto& level = *static_cast<const Level*>(place.pass.place);
    RunningRequest& request = out.emplace_back();
    request.level = level.name();
    request.schema = static_cast<const FlowCounts*>(place.pass.flow)->schema;
    const std::size_t found = known->classifier.find(place.context->user, place.context->info);
    request.flow_name = known->classifier.schemas()[found].flow_of(place.context->user, place.context->info);
    if (place.pass.queue != nullptr) request.queue = level.index_of(static_cast<const FlowQueue*>(place.pass.queue));
    request.arrived = wall(place.arrived);
    request.begun = wall(place.pass.begun);
    request.seats = place.pass.seats;
    request.details = details_of(*place.context);
  });
  return out;
}

Task<bool> Gate::wait(RequestContext& context, Exchange& exchange, GatePass& pass) {
  const Time arrived = Clock::now();
  std::shared_ptr<const Snapshot> known;
  const Entry* entry = nullptr;
  std::shared_ptr<Waiter> waiter;
  Level::Queued queued = Level::Queued::kClosed;
  while (queued == Level::Queued::kClosed) {
    known = snapshot();
    const std::size_t found = known->classifier.find(context.user, context.info);
    const FlowSchema& schema = known->classifier.schemas()[found];
    const std::string_view flow = schema.flow_of(context.user, context.info);
    entry = &known->entries[found];
    waiter = std::make_shared<Waiter>();
    waiter->flow = entry->counts;
    waiter->schema = schema.name;
    waiter->flow_name = flow;
    waiter->hash = flow_hash(schema.name, flow);
    waiter->seats = seats_for(context, *entry, *known->stored);
    waiter->details = details_of(context);
    queued = entry->level->enqueue(waiter, arrived);
  }
  if (waiter->seats > 1) entry->counts->wide.observe(waiter->seats, waiter->seats);
  bool in = queued == Level::Queued::kRuns;
  if (queued == Level::Queued::kWaits) {
    Waiting& counted = waiting_[is_mutating(context.info.verb) ? 1 : 0];
    const int now_waiting = counted.now.fetch_add(1, std::memory_order_relaxed) + 1;
    int highest = counted.highest.load(std::memory_order_relaxed);
    while (now_waiting > highest && !counted.highest.compare_exchange_weak(highest, now_waiting, std::memory_order_relaxed)) continue;
    {
      const QueuedRequest queued(entry->level, waiter, exchange, queue_deadline(context));
      in = co_await waiter->decided.future();
    }
    counted.now.fetch_sub(1, std::memory_order_relaxed);
  }
  fill(pass, *entry, waiter->seats);
  const Time decided = Clock::now();
  const auto waited = decided - arrived;
  entry->counts->waited[in ? 1 : 0].observe(std::chrono::duration<double>(waited).count(), static_cast<std::uint64_t>(waited.count()));
  if (!in) {
    const RejectReason reason = queued == Level::Queued::kQueueFull ? kQueueFull
                                : queued == Level::Queued::kNoSeat  ? kConcurrencyLimit
                                                                    : kTimeOut;
    refuse(exchange, *entry, reason);
    co_return false;
  }
  pass.queue = waiter->queue;
  admit(pass, context, *entry, arrived, decided);
  set_flow_headers(exchange, *entry);
  co_return true;
}

}  // namespace backplane::flowcontrol
