// Tests of a plugin's request gate, which replaces the limits of InFlightLimits.
#include "filters/filters_fixture.hpp"

namespace backplane {
namespace {

using namespace std::chrono_literals;
using namespace filters_testing;

class TestGate final : public RequestGate {
 public:
  GateAnswer answer = GateAnswer::kEnter;
  bool admits = true;
  int asked = 0, waited = 0, in = 0, most_in = 0;

  GateAnswer enter(RequestContext&, Exchange& exchange, GatePass& pass) override {
    ++asked;
    exchange.set_response_header("X-Gate", "asked");
    if (answer == GateAnswer::kEnter) take(pass);
    return answer;
  }
  Task<bool> wait(RequestContext&, Exchange&, GatePass& pass) override {
    ++waited;
    if (admits) take(pass);
    co_return admits;
  }
  void leave(GatePass& pass) noexcept override {
    EXPECT_EQ(pass.seats, 7u) << "what the gate has put there";
    --in;
  }
  std::vector<Metric::Snapshot> measured() const override { return {}; }

 private:
  void take(GatePass& pass) {
    pass.seats = 7;
    most_in = std::max(most_in, ++in);
  }
};

struct GatedFilters : Filters {
  GatedFilters() { config.gate = &gate; }
  TestGate gate;
};

TEST_F(GatedFilters, TheGateReplacesTheLimits) {
  const auto names = HandlerChain(config, handler).names();
  EXPECT_EQ(std::count(names.begin(), names.end(), "WithMaxInFlightLimit"), 0);
  EXPECT_EQ(std::count(names.begin(), names.end(), "WithPriorityAndFairness"), 1);
  InFlightLimits full(1, 1);
  ASSERT_TRUE(full.try_enter(false));
  config.in_flight = &full;
  config.authentication = &by_credential;
  TestExchange anonymous;
  ask(anonymous);
  EXPECT_EQ(anonymous.code, 200);
  full.next_period();
  EXPECT_EQ(full.highest(false), 2) << "admitted requests are counted, too";
  EXPECT_EQ(full.running(false), 1);
}

TEST_F(GatedFilters, AnAdmittedRequestAlwaysLeavesTheGate) {
  TestExchange exchange;
  ask(exchange);
  EXPECT_EQ(exchange.code, 200);
  EXPECT_EQ(exchange.response_header("X-Gate"), "asked");
  handler.answer = throws;
  TestExchange broken;
  ask(broken);
  EXPECT_EQ(broken.code, 500);
  EXPECT_EQ((std::vector<int>{gate.asked, gate.most_in, gate.in}), (std::vector<int>{2, 1, 0}));
}

TEST_F(GatedFilters, ARefusedRequestGetsRetryAfter) {
  gate.answer = GateAnswer::kRefuse;
  TestExchange exchange;
  ask(exchange);
  EXPECT_EQ(exchange.code, 429);
  EXPECT_EQ(exchange.type, "text/plain; charset=utf-8");
  EXPECT_EQ(exchange.body, "Too many requests, please try again later.\n");
  EXPECT_EQ(handler.calls, 0);
}

TEST_F(GatedFilters, AWaitingRequestIsAdmittedOrRefused) {
  gate.answer = GateAnswer::kWait;
  TestExchange in;
  ask(in);
  EXPECT_EQ(in.code, 200);
  gate.admits = false;
  TestExchange out;
  ask(out);
  EXPECT_EQ(out.code, 429);
  EXPECT_EQ((std::vector<int>{gate.waited, gate.most_in, gate.in}), (std::vector<int>{2, 1, 0}));
  EXPECT_EQ(in_flight.running(false), 0);
}

TEST_F(GatedFilters, LongRequestsThatAreNoWatchesAreNotAsked) {
  TestExchange logs;
  logs.request_target = "/api/v1/namespaces/x/pods/y/log";
  ask(logs);
  EXPECT_EQ(logs.code, 200);
  EXPECT_EQ(gate.asked, 0);
}

Executor* g_foreign = nullptr;

Task<void> stream_from_other_executor(RequestContext&, Exchange& exchange) {
  co_await resume_on(*g_foreign);
  Status status = co_await exchange.start(200, "application/json");
  for (int i = 0; status.ok() && i < 3; ++i) {
    co_await resume_on(*g_foreign);
    std::vector<SharedBytes> event;
    event.emplace_back(std::string("{}"));
    auto writing = exchange.write(std::move(event));
    status = co_await std::move(writing);
  }
  co_await resume_on(*g_foreign);
  co_await exchange.finish();
}

TEST_F(GatedFilters, AWatchThatWritesFromAnotherExecutorIsCountedOnItsConnections) {
  IoLoop foreign("foreign");
  foreign.start();
  g_foreign = &foreign;
  handler.answer = stream_from_other_executor;
  TestExchange exchange;
  exchange.expected_executor = &loop;
  exchange.request_target = "/api/v1/pods?watch=1";
  ask(exchange);
  EXPECT_EQ(exchange.body, "{}{}{}");
  EXPECT_EQ(exchange.wrong_executor_calls, 0);
  EXPECT_EQ(gate.in, 0);
  foreign.stop();
}

struct WatchHandler {
  TestGate& gate;
  std::vector<int> in;  // the number of requests in the gate at each step
  Promise<bool> others;

  Task<void> answer(Exchange& exchange) {
    in.push_back(gate.in);
    Status started = co_await exchange.start(200, "application/json");
    for (int i = 0; i < 2; ++i) {
      std::vector<SharedBytes> event;
      event.emplace_back(std::string("{}"));
      auto writing = exchange.write(std::move(event));
      Status written = co_await std::move(writing);
      in.push_back(gate.in);
    }
    current_executor()->post([this] { others.set(true); });
    const bool quiet = co_await others.future();
    in.push_back(quiet ? gate.in : -1);
    co_await exchange.finish();
  }
};

TEST_F(GatedFilters, AWatchLeavesAfterItsInitialEvents) {
  WatchHandler watch{gate, {}, {}};
  handler.answer = [&watch](RequestContext&, Exchange& exchange) { return watch.answer(exchange); };
  TestExchange exchange;
  exchange.request_target = "/api/v1/pods?watch=true";
  ask(exchange);
  EXPECT_EQ(watch.in, (std::vector<int>{1, 1, 1, 0}));
  EXPECT_TRUE(handler.of_context);
  EXPECT_EQ(gate.in, 0);
}

TEST_F(GatedFilters, AWatchThatDoesNotBeginLeavesToo) {
  TestExchange exchange;
  exchange.request_target = "/api/v1/pods?watch=true";
  ask(exchange);
  handler.answer = throws;
  TestExchange broken;
  broken.request_target = "/api/v1/pods?watch=true";
  ask(broken);
  EXPECT_EQ((std::vector<int>{gate.asked, gate.most_in, gate.in, in_flight.running(false)}), (std::vector<int>{2, 1, 0, 0}));
}
}  // namespace
}  // namespace backplane
