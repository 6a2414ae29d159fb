#include "dumps.hpp"

#include <algorithm>
#include <cstdio>

#include "flow_queue.hpp"

namespace backplane::flowcontrol {
namespace {

using Row = std::vector<std::string>;

// A table of text. Each column is as wide as its widest cell. A comma follows each cell except the last one of a row.
class TextTable {
 public:
  explicit TextTable(Row head) { rows_.push_back(std::move(head)); }
  void add(Row row) { rows_.push_back(std::move(row)); }
  std::string text() const {
    std::vector<std::size_t> widths(rows_.front().size(), kNarrowest);
    for (const Row& row : rows_) {
      for (std::size_t i = 0; i + 1 < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size() + 2);
    }
    std::string out;
    for (const Row& row : rows_) {
      for (std::size_t i = 0; i + 1 < row.size(); ++i) {
        out.append(row[i]).append(1, ',').append(widths[i] - row[i].size() - 1, ' ');
      }
      out.append(row.back()).append(1, '\n');
    }
    return out;
  }

 private:
  static constexpr std::size_t kNarrowest = 8;
  std::vector<Row> rows_;
};

std::string truth(bool value) { return value ? "true" : "false"; }
std::string seat_seconds(double value) {
  char text[48];
  std::snprintf(text, sizeof text, "%.8fss", value);
  return text;
}

std::string utc(std::chrono::system_clock::time_point time) {
  const auto since = time.time_since_epoch();
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(since);
  const std::time_t whole = seconds.count();
  std::tm parts{};
  gmtime_r(&whole, &parts);
  char text[48];
  const std::size_t size = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  std::snprintf(text + size, sizeof text - size, ".%09lldZ",
                static_cast<long long>(std::chrono::duration_cast<std::chrono::nanoseconds>(since - seconds).count()));
  return text;
}

struct Totals {
  std::uint64_t executing = 0, dispatched = 0, rejected = 0;
};
Totals totals_of(const Level& level) {
  Totals totals;
  for (const auto& [_, counts] : level.all_counts()) {
    totals.executing += static_cast<std::uint32_t>(counts->executing.load(std::memory_order_relaxed));
    totals.dispatched += counts->dispatched();
    for (const auto& reason : counts->rejected) totals.rejected += reason.load(std::memory_order_relaxed);
  }
  return totals;
}

using Dump = std::string (*)(const Gate&, const Query& query);

class DumpHandler final : public HttpHandler {
 public:
  DumpHandler(std::shared_ptr<const Gate> gate, Dump dump) : gate_(std::move(gate)), dump_(dump) {}
  Task<void> handle(RequestContext& context, Exchange& exchange) override {
    std::vector<SharedBytes> body;
    body.emplace_back(dump_(*gate_, context.info.query));
    co_await exchange.respond(200, "text/plain; charset=utf-8", std::move(body));
  }

 private:
  const std::shared_ptr<const Gate> gate_;
  const Dump dump_;
};

// One row of dump_requests.
struct RequestRow {
  std::string level, schema, queue, index, flow_name, arrived, seats, begun;
  const RequestDetails& details;
};
void add_request(TextTable& table, const RequestRow& row, bool details) {
  Row cells = {row.level, row.schema, row.queue, row.index, row.flow_name, row.arrived, row.seats, "0", "0s", row.begun};
  if (details) {
    const RequestDetails& of = row.details;
    for (const std::string* cell : {&of.user, &of.verb, &of.path, &of.ns, &of.name, &of.api_version, &of.resource, &of.subresource}) {
      cells.push_back(*cell);
    }
  }
  table.add(std::move(cells));
}

}  // namespace

std::string dump_levels(const std::vector<LevelState>& levels) {
  TextTable table({"PriorityLevelName", "ActiveQueues", "IsIdle", "IsQuiescing", "WaitingRequests", "ExecutingRequests",
                   "DispatchedRequests", "RejectedRequests", "TimedoutRequests", "CancelledRequests"});
  for (const LevelState& state : levels) {
    const auto queues = state.level->dump();
    const auto active = std::count_if(queues.begin(), queues.end(), [](const auto& queue) { return !queue.waiting.empty(); });
    const Totals totals = totals_of(*state.level);
    // abandoned() counts requests that have waited too long and requests whose client has disconnected, so TimedoutRequests is always 0.
    table.add({state.configured.name, std::to_string(active), truth(state.level->idle()), truth(state.leaving),
               std::to_string(state.level->waiting()), std::to_string(totals.executing), std::to_string(totals.dispatched),
               std::to_string(totals.rejected), "0", std::to_string(state.level->abandoned())});
  }
  return table.text();
}

std::string dump_queues(const std::vector<LevelState>& levels) {
  TextTable table({"PriorityLevelName", "Index", "PendingRequests", "ExecutingRequests", "SeatsInUse", "NextDispatchR", "InitialSeatsSum",
                   "MaxSeatsSum", "TotalWorkSum"});
  for (const LevelState& state : levels) {
    std::size_t index = 0;
    for (const auto& queue : state.level->dump()) {
      table.add({state.configured.name, std::to_string(index++), std::to_string(queue.waiting.size()), std::to_string(queue.executing),
                 std::to_string(queue.seats_in_use), seat_seconds(queue.next_dispatch), std::to_string(queue.seats_waiting),
                 std::to_string(queue.seats_waiting), seat_seconds(queue.work_waiting)});
    }
  }
  return table.text();
}

// RequestIndexInQueue is the position of a waiting request in its queue, and -1 for a running request.
std::string dump_requests(const std::vector<LevelState>& levels, const std::vector<Gate::RunningRequest>& running, bool details) {
  Row head = {"PriorityLevelName", "FlowSchemaName", "QueueIndex", "RequestIndexInQueue", "FlowDistingsher",
              "ArriveTime",        "InitialSeats",   "FinalSeats", "AdditionalLatency",   "StartTime"};
  if (details) {
    for (const char* each : {"UserName", "Verb", "APIPath", "Namespace", "Name", "APIVersion", "Resource", "SubResource"})
      head.emplace_back(each);
  }
  TextTable table(std::move(head));
  for (const LevelState& state : levels) {
    const std::string& level = state.configured.name;
    std::size_t index = 0;
    for (const auto& queue : state.level->dump()) {
      std::size_t place = 0;
      for (const auto& request : queue.waiting) {
        add_request(table,
                    {level, request.schema, std::to_string(index), std::to_string(place++), request.flow_name, utc(request.arrived),
                     std::to_string(request.seats), "0001-01-01T00:00:00Z", request.details},
                    details);
      }
      ++index;
    }
    for (const Gate::RunningRequest& request : running) {
      if (request.level != level) continue;
      add_request(table,
                  {level, request.schema, std::to_string(request.queue), "-1", request.flow_name, utc(request.arrived),
                   std::to_string(request.seats), utc(request.begun), request.details},
                  details);
    }
  }
  return table.text();
}

std::vector<PathRoute> dump_routes(std::shared_ptr<const Gate> gate) {
  static constexpr std::pair<const char*, Dump> kDumps[] = {
      {"dump_priority_levels", [](const Gate& of, const Query&) { return dump_levels(of.levels()); }},
      {"dump_queues", [](const Gate& of, const Query&) { return dump_queues(of.levels()); }},
      {"dump_requests", [](const Gate& of, const Query& query) {
         return dump_requests(of.levels(), of.running(), !query_get(query, "includeRequestDetails").empty());
       }}};
  const std::string base = "/debug/api_priority_and_fairness/";
  std::vector<PathRoute> routes;
  for (const auto& [name, dump] : kDumps) {
    routes.push_back({base + name, false, false, std::make_shared<DumpHandler>(gate, dump)});
  }
  return routes;
}

}  // namespace backplane::flowcontrol
