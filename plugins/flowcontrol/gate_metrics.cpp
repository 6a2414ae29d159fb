// Metrics of priority and fairness, under upstream's names.
#include <algorithm>

#include "gate.hpp"

namespace backplane::flowcontrol {
namespace {

using Shown = Metric::Snapshot;
using Kind = Metric::Kind;
using Labels = std::vector<std::string>;

constexpr const char* kLevel = "priority_level";
constexpr const char* kSchema = "flow_schema";
constexpr std::array<const char*, 3> kReasons = {"concurrency-limit", "queue-full", "time-out"};
constexpr double kNanosecond = 1e-9;

// `count` additional observations of `value`, which belong to the bucket `bucket` of a histogram.
struct More {
  std::size_t bucket = 0;
  std::uint64_t count = 0;
  double value = 0;
};

class Family {
 public:
  Family(std::vector<Shown>& out, std::string_view name, std::string_view help, Kind kind, Labels labels, std::vector<double> bounds = {})
      : out_(out) {
    made_.name = name;
    made_.help = help;
    made_.kind = kind;
    made_.labels = std::move(labels);
    made_.bounds = std::move(bounds);
  }
  Family(const Family&) = delete;
  Family& operator=(const Family&) = delete;
  ~Family() {
    if (!made_.series.empty()) out_.push_back(std::move(made_));
  }
  Metric::Series& of(Labels values) { return made_.series[std::move(values)]; }
  void set(Labels values, double value) { of(std::move(values)).value = value; }
  void count(Labels values, std::uint64_t count) {
    if (count != 0) set(std::move(values), static_cast<double>(count));
  }
  template <class B>
  void histogram(Labels values, const B& buckets, double unit, More more = {}) {
    if (buckets.count() + more.count == 0) return;
    Metric::Series& series = of(std::move(values));
    for (std::size_t i = 0; i < B::kSize; ++i) series.buckets.push_back(buckets.in_bucket(i) + (i == more.bucket ? more.count : 0));
    series.count = buckets.count() + more.count;
    series.value = static_cast<double>(buckets.sum()) * unit + static_cast<double>(more.count) * more.value;
  }

 private:
  std::vector<Shown>& out_;
  Shown made_;
};

template <std::size_t size>
std::vector<double> bounds_of(const std::array<double, size>& bounds) {
  return {bounds.begin(), bounds.end()};
}

// The counts of one schema in one level.
struct Row {
  std::string level, schema;
  const FlowCounts& counts;
  bool exempt;
  bool queues;
  // Label values in the order of the label names.
  Labels labels() const { return {schema, level}; }
  Labels labels(std::string last) const { return {schema, level, std::move(last)}; }
  Labels labels_after(std::string first) const { return {std::move(first), schema, level}; }
  std::uint32_t executing() const { return static_cast<std::uint32_t>(counts.executing.load(std::memory_order_relaxed)); }
  std::uint32_t executing_seats() const { return static_cast<std::uint32_t>(counts.executing.load(std::memory_order_relaxed) >> 32); }
  std::uint64_t rejected() const {
    std::uint64_t all = 0;
    for (const auto& reason : counts.rejected) all += reason.load(std::memory_order_relaxed);
    return all;
  }
  std::uint32_t waiting() const { return static_cast<std::uint32_t>(counts.waiting.load(std::memory_order_relaxed)); }
  std::uint32_t waiting_seats() const { return static_cast<std::uint32_t>(counts.waiting.load(std::memory_order_relaxed) >> 32); }
};

void add_counts(std::vector<Shown>& out, const std::vector<Row>& rows) {
  Family rejected(out, "apiserver_flowcontrol_rejected_requests_total",
                  "[BETA] Number of requests rejected by API Priority and Fairness subsystem", Kind::kCounter, {kSchema, kLevel, "reason"});
  Family dispatched(out, "apiserver_flowcontrol_dispatched_requests_total",
                    "[BETA] Number of requests executed by API Priority and Fairness subsystem", Kind::kCounter, {kSchema, kLevel});
  Family unfit(out, "apiserver_flowcontrol_request_dispatch_no_accommodation_total",
               "[ALPHA] Number of times a dispatch attempt resulted in a non accommodation due to lack of available seats", Kind::kCounter,
               {kSchema, kLevel});
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < kReasons.size(); ++i) rejected.count(row.labels(kReasons[i]), row.counts.rejected[i].load());
    dispatched.count(row.labels(), row.counts.dispatched());
    unfit.count(row.labels(), row.counts.not_accommodated.load());
  }
}

void add_now(std::vector<Shown>& out, const std::vector<Row>& rows) {
  Family requests(out, "apiserver_flowcontrol_current_executing_requests",
                  "[BETA] Number of requests in initial (for a WATCH) or any (for a non-WATCH) execution stage in the API Priority and "
                  "Fairness subsystem",
                  Kind::kGauge, {kSchema, kLevel});
  Family seats(out, "apiserver_flowcontrol_current_executing_seats",
               "[BETA] Concurrency (number of seats) occupied by the currently executing (initial stage for a WATCH, any stage otherwise) "
               "requests in the API Priority and Fairness subsystem",
               Kind::kGauge, {kSchema, kLevel});
  Family in_use(out, "apiserver_flowcontrol_request_concurrency_in_use",
                "[ALPHA] (Deprecated since 1.31.0) Concurrency (number of seats) occupied by the currently executing (initial stage for a "
                "WATCH, any stage otherwise) requests in the API Priority and Fairness subsystem",
                Kind::kGauge, {kSchema, kLevel});
  Family queued(out, "apiserver_flowcontrol_current_inqueue_requests",
                "[BETA] Number of requests currently pending in queues of the API Priority and Fairness subsystem", Kind::kGauge,
                {kSchema, kLevel});
  Family queued_seats(out, "apiserver_flowcontrol_current_inqueue_seats",
                      "[ALPHA] Number of seats currently pending in queues of the API Priority and Fairness subsystem", Kind::kGauge,
                      {kSchema, kLevel});
  for (const Row& row : rows) {
    if (row.counts.dispatched() == 0 && row.counts.waited[0].count() == 0 && row.waiting() == 0) continue;
    requests.set(row.labels(), row.executing());
    seats.set(row.labels(), row.executing_seats());
    in_use.set(row.labels(), row.executing_seats());
    if (row.exempt) continue;
    queued.set(row.labels(), row.waiting());
    queued_seats.set(row.labels(), row.waiting_seats());
  }
}

std::uint64_t more_than(std::uint64_t all, std::uint64_t some) { return all - std::min(all, some); }

void add_durations(std::vector<Shown>& out, const std::vector<Row>& rows) {
  Family executed(out, "apiserver_flowcontrol_request_execution_seconds",
                  "[ALPHA] Duration of initial stage (for a WATCH) or any (for a non-WATCH) stage of request execution in the API Priority "
                  "and Fairness subsystem",
                  Kind::kHistogram, {kSchema, kLevel, "type"}, bounds_of(kDurationBounds));
  Family waited(out, "apiserver_flowcontrol_request_wait_duration_seconds", "[BETA] Length of time a request spent waiting in its queue",
                Kind::kHistogram, {"execute", kSchema, kLevel}, bounds_of(kDurationBounds));
  Family lengths(out, "apiserver_flowcontrol_request_queue_length_after_enqueue",
                 "[ALPHA] Length of queue in the API Priority and Fairness subsystem, as seen by each request after it is enqueued",
                 Kind::kHistogram, {kSchema, kLevel}, bounds_of(kLengthBounds));
  Family widths(out, "apiserver_flowcontrol_work_estimated_seats",
                "[ALPHA] Number of estimated seats (maximum of initial and final seats) associated with requests in API Priority and "
                "Fairness",
                Kind::kHistogram, {kSchema, kLevel}, bounds_of(kSeatBounds));
  for (const Row& row : rows) {
    executed.histogram(row.labels("regular"), row.counts.executed[0], kNanosecond);
    executed.histogram(row.labels("watch"), row.counts.executed[1], kNanosecond);
    // The number of requests that got a seat or were refused at once, and the number of requests for one seat, are computed from other
    // counts.
    const std::uint64_t all = row.counts.dispatched();
    const std::uint64_t rejected = row.rejected();
    const std::uint64_t at_once = more_than(all, row.counts.waited[1].count());
    const std::uint64_t refused_at_once = more_than(rejected, row.counts.waited[0].count());
    if (!row.exempt) {
      waited.histogram(row.labels_after("true"), row.counts.waited[1], kNanosecond, {1, at_once, 0});
      waited.histogram(row.labels_after("false"), row.counts.waited[0], kNanosecond, {1, refused_at_once, 0});
    }
    // Upstream counts every request as queued, even if the request does not wait.
    if (row.queues) lengths.histogram(row.labels(), row.counts.queue_lengths, 1, {1, at_once, 1});
    widths.histogram(row.labels(), row.counts.wide, 1, {0, more_than(all + row.waiting() + rejected, row.counts.wide.count()), 1});
  }
}

void add_limits(std::vector<Shown>& out, const std::vector<LevelState>& levels) {
  struct Gauge {
    const char* name;
    const char* help;
    double (*value)(const LevelState&);
  };
  static constexpr Gauge kGauges[] = {
      {"nominal_limit_seats", "[BETA] Nominal number of execution seats configured for each priority level",
       [](const LevelState& level) -> double { return level.nominal; }},
      {"request_concurrency_limit",
       "[ALPHA] (Deprecated since 1.30.0) Nominal number of execution seats configured for each priority level",
       [](const LevelState& level) -> double { return level.nominal; }},
      {"lower_limit_seats", "[ALPHA] Configured lower bound on number of execution seats available to each priority level",
       [](const LevelState& level) -> double { return level.lower; }},
      {"upper_limit_seats", "[ALPHA] Configured upper bound on number of execution seats available to each priority level",
       [](const LevelState& level) -> double { return level.upper; }},
      {"current_limit_seats", "[ALPHA] current derived number of execution seats available to each priority level",
       [](const LevelState& level) -> double { return level.level->limit(); }},
      {"demand_seats_high_watermark", "[ALPHA] High watermark, over last adjustment period, of demand_seats",
       [](const LevelState& level) -> double { return level.demand.most; }},
      {"demand_seats_average", "[ALPHA] Time-weighted average, over last adjustment period, of demand_seats",
       [](const LevelState& level) -> double { return level.demand.average; }},
      {"demand_seats_stdev", "[ALPHA] Time-weighted standard deviation, over last adjustment period, of demand_seats",
       [](const LevelState& level) -> double { return level.demand.deviation; }},
      {"demand_seats_smoothed", "[ALPHA] Smoothed seat demands", [](const LevelState& level) -> double { return level.demand.smoothed; }},
      {"target_seats", "[ALPHA] Seat allocation targets", [](const LevelState& level) -> double { return level.target; }},
      {"current_r", "[ALPHA] R(time of last change)", [](const LevelState& level) -> double { return level.level->virtual_time(); }}};
  for (const Gauge& gauge : kGauges) {
    Family family(out, std::string("apiserver_flowcontrol_") + gauge.name, gauge.help, Kind::kGauge, {kLevel});
    for (const LevelState& level : levels) family.set({level.configured.name}, gauge.value(level));
  }
}

void add_server(std::vector<Shown>& out, double fair_part, int reading, int changing) {
  Family fair(out, "apiserver_flowcontrol_seat_fair_frac",
              "[ALPHA] Fair fraction of server's concurrency to allocate to each priority level that can use it", Kind::kGauge, {});
  fair.set({}, fair_part);
  Family waiting(out, "apiserver_current_inqueue_requests",
                 "[ALPHA] Maximal number of queued requests in this apiserver per request kind in last second.", Kind::kGauge,
                 {"request_kind"});
  waiting.set({"mutating"}, changing);
  waiting.set({"readOnly"}, reading);
}

}  // namespace

std::vector<Metric::Snapshot> Gate::measured() const {
  std::vector<Metric::Snapshot> out;
  const std::vector<LevelState> all = levels();
  std::vector<Row> rows;
  for (const LevelState& level : all) {
    for (const auto& [schema, counts] : level.level->all_counts())
      rows.push_back({level.configured.name, schema, *counts, level.level->exempt(), level.configured.queues > 0});
  }
  add_counts(out, rows);
  add_now(out, rows);
  add_durations(out, rows);
  add_limits(out, all);
  add_server(out, fair_part(), waiting_[0].shown.load(std::memory_order_relaxed), waiting_[1].shown.load(std::memory_order_relaxed));
  return out;
}

}  // namespace backplane::flowcontrol
