#include "gate.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "allocation.hpp"
#include "backplane/net/forwarding_exchange.hpp"
#include "dumps.hpp"
#include "kinds.hpp"
#include "running_requests.hpp"
#include "turn_executor.hpp"

namespace backplane::flowcontrol {
namespace {

using namespace std::chrono_literals;

Object delivered(const Bootstrap& bootstrap) {
  Object object;
  object["metadata"] = Object{{"name", bootstrap.name}, {"uid", "uid of " + bootstrap.name}};
  object["spec"] = bootstrap.spec;
  return object;
}

std::vector<PriorityLevel> delivered_levels() {
  std::vector<PriorityLevel> levels;
  for (const Bootstrap& each : bootstrap_objects()) {
    if (each.resource == kPriorityLevels) levels.push_back(*read_priority_level(delivered(each)));
  }
  return levels;
}
std::vector<FlowSchema> delivered_schemas() {
  std::vector<FlowSchema> schemas;
  for (const Bootstrap& each : bootstrap_objects()) {
    if (each.resource == kFlowSchemas) schemas.push_back(read_flow_schema(delivered(each)));
  }
  return schemas;
}

FlowSchema schema_of(const std::string& rules, const std::string& more = "") {
  return read_flow_schema(json::parse(R"({"metadata":{"name":"s","uid":"u"},"spec":{"priorityLevelConfiguration":{"name":"p"})" + more +
                                      R"(,"rules":[)" + rules + "]}}")
                              .get_object());
}

bool matches(const FlowSchema& schema, const UserInfo& user, const RequestInfo& info) {
  FlowSchema last;
  return Classifier({schema, last}).find(user, info) == 0;
}

UserInfo user(std::string name, std::vector<std::string> groups) { return {std::move(name), "", std::move(groups), {}}; }
UserInfo account(const std::string& ns, const std::string& name) {
  return user("system:serviceaccount:" + ns + ":" + name,
              {"system:serviceaccounts", "system:serviceaccounts:" + ns, "system:authenticated"});
}
RequestInfo resource(std::string verb, std::string group, std::string name, std::string ns = {}, std::string subresource = {}) {
  RequestInfo info;
  info.is_resource_request = true;
  info.verb = std::move(verb);
  info.api_group = std::move(group);
  info.resource = std::move(name);
  info.ns = std::move(ns);
  info.subresource = std::move(subresource);
  return info;
}
RequestInfo path(std::string verb, std::string where) {
  RequestInfo info;
  info.verb = std::move(verb);
  info.path = std::move(where);
  return info;
}

class NoExchange final : public Exchange {
 public:
  std::string_view method() const noexcept override { return "GET"; }
  std::string_view target() const noexcept override { return target_text; }
  int http_major() const noexcept override { return 1; }
  std::string_view header(std::string_view) const noexcept override { return {}; }
  const Headers& headers() const noexcept override { return sent; }
  std::string_view remote_address() const noexcept override { return "127.0.0.1:1"; }
  const PeerCertificate* peer_certificate() const noexcept override { return nullptr; }
  Task<Result<std::string>> read_body(std::size_t) override { co_return std::string(); }
  void add_response_header(std::string name, std::string value) override { sent.emplace_back(std::move(name), std::move(value)); }
  void set_response_header(std::string name, std::string value) override { add_response_header(std::move(name), std::move(value)); }
  void set_compressible(bool) override {}
  Task<void> respond(int, std::string_view, std::vector<SharedBytes>) override { co_return; }
  Task<Status> start(int, std::string_view) override { co_return Status(); }
  Task<Status> write(std::vector<SharedBytes>) override { co_return Status(); }
  Task<void> finish() override { co_return; }
  bool started() const noexcept override { return false; }
  int response_code() const noexcept override { return 0; }
  std::uint64_t add_close_callback(std::function<void()> callback) override {
    close = std::move(callback);
    return 1;
  }
  void remove_close_callback(std::uint64_t) noexcept override { close = nullptr; }
  bool closed() const noexcept override { return gone; }
  void close_connection_after() override {}
  void abort() override {}

  std::string sent_as(std::string_view name) const {
    for (const auto& [key, value] : sent) {
      if (key == name) return value;
    }
    return "(none)";
  }

  std::string target_text = "/";
  Headers sent;
  std::function<void()> close;
  bool gone = false;
};

// A request at a gate.
struct Asked {
  explicit Asked(UserInfo who, RequestInfo what) {
    context.user = std::move(who);
    context.info = std::move(what);
    context.deadline = context.received + 60s;
  }
  GateAnswer enter(Gate& gate) { return gate.enter(context, exchange, pass); }
  void wait(Gate& gate, test::TurnExecutor& executor) { executor.start(waiting(gate)); }

  RequestContext context;
  NoExchange exchange;
  GatePass pass;
  std::optional<bool> admitted;

 private:
  Task<void> waiting(Gate& gate) {
    auto wait = gate.wait(context, exchange, pass);
    admitted = co_await std::move(wait);
  }
};

class GateTest : public ::testing::Test {
 protected:
  GateTest() { gate.configure(delivered_levels(), delivered_schemas()); }
  std::string schema_for(UserInfo who, RequestInfo what) {
    Asked asked(std::move(who), std::move(what));
    EXPECT_EQ(asked.enter(gate), GateAnswer::kEnter);
    gate.leave(asked.pass);
    const std::string uid = asked.exchange.sent_as("X-Kubernetes-Pf-Flowschema-Uid");
    const std::string level = asked.exchange.sent_as("X-Kubernetes-Pf-Prioritylevel-Uid");
    return uid.substr(std::min<std::size_t>(7, uid.size())) + "/" + level.substr(std::min<std::size_t>(7, level.size()));
  }
  const LevelState* level(std::string_view name) {
    levels = gate.levels();
    for (const LevelState& state : levels) {
      if (state.configured.name == name) return &state;
    }
    return nullptr;
  }
  // In addition to the default levels: one seat for all users of the group `few`, with or without a queue.
  void add_one_seat(int queues, int length = 1) {
    auto all = delivered_levels();
    PriorityLevel few;
    few.name = "few";
    few.uid = "uid of few";
    few.shares = 0;
    few.queues = queues;
    few.hand_size = queues > 0 ? 1 : 0;
    few.queue_length = length;
    few.borrowing_percent = 0;
    all.push_back(few);
    for (PriorityLevel& each : all) each.shares = each.name == "few" ? 1 : each.shares * 1000;
    auto schemas = delivered_schemas();
    schemas.push_back(
        schema_of(R"({"subjects":[{"kind":"Group","group":{"name":"few"}}],"nonResourceRules":[{"verbs":["*"],"nonResourceURLs":["*"]}]})",
                  R"(,"matchingPrecedence":3)"));
    schemas.back().level = "few";
    gate.configure(std::move(all), std::move(schemas));
    ASSERT_EQ(level("few")->level->limit(), 1);
  }
  Asked one_of_few() { return Asked(user("f", {"few", "system:authenticated"}), path("get", "/version")); }

  Gate gate{600, 60s};
  std::vector<LevelState> levels;
  test::TurnExecutor executor;
};

TEST_F(GateTest, DefaultSchemasClassifyRequestsAsUpstream) {
  const UserInfo admin = user("admin", {"system:masters", "system:authenticated"});
  const UserInfo node = user("system:node:n", {"system:nodes", "system:authenticated"});
  const UserInfo manager = user("system:kube-controller-manager", {"system:authenticated"});
  const UserInfo somebody = user("jane", {"system:authenticated"});
  const UserInfo anonymous = user("system:anonymous", {"system:unauthenticated"});
  EXPECT_EQ(schema_for(admin, resource("delete", "", "pods", "x")), "exempt/exempt");
  EXPECT_EQ(schema_for(anonymous, path("get", "/healthz")), "probes/exempt");
  EXPECT_EQ(schema_for(somebody, path("get", "/readyz/ping")), "probes/exempt") << "a path is everything below it, too";
  EXPECT_EQ(schema_for(somebody, path("get", "/readyzx")), "global-default/global-default");
  EXPECT_EQ(schema_for(somebody, path("post", "/healthz")), "global-default/global-default");
  EXPECT_EQ(schema_for(node, resource("update", "coordination.k8s.io", "leases", "kube-node-lease")), "system-node-high/node-high");
  EXPECT_EQ(schema_for(node, resource("patch", "", "nodes", "", "status")), "system-node-high/node-high");
  EXPECT_EQ(schema_for(node, resource("patch", "", "nodes", "", "proxy")), "system-nodes/system");
  EXPECT_EQ(schema_for(node, resource("list", "", "pods")), "system-nodes/system");
  EXPECT_EQ(schema_for(manager, resource("update", "coordination.k8s.io", "leases", "kube-system")),
            "system-leader-election/leader-election");
  EXPECT_EQ(schema_for(manager, resource("list", "coordination.k8s.io", "leases", "kube-system")), "kube-controller-manager/workload-high");
  EXPECT_EQ(schema_for(user("system:kube-scheduler", {}), path("get", "/version")), "kube-scheduler/workload-high");
  EXPECT_EQ(schema_for(account("kube-system", "a"), resource("get", "coordination.k8s.io", "leases", "x")),
            "system-leader-election/leader-election");
  EXPECT_EQ(schema_for(account("kube-system", "a"), resource("list", "", "pods")), "kube-system-service-accounts/workload-high");
  EXPECT_EQ(schema_for(account("kube-system-2", "a"), resource("list", "", "pods")), "service-accounts/workload-low");
  EXPECT_EQ(schema_for(somebody, resource("list", "", "pods")), "global-default/global-default");
  EXPECT_EQ(schema_for(anonymous, resource("list", "", "pods")), "global-default/global-default");
  EXPECT_EQ(schema_for(user("nobody", {}), resource("list", "", "pods")), "catch-all/catch-all") << "nothing matches";
}

TEST_F(GateTest, OfSchemasWithOnePrecedenceTheNameDecides) {
  auto schemas = delivered_schemas();
  FlowSchema twin = schemas.back();
  for (const char* name : {"zz", "aa"}) {
    twin = schema_of(
        R"({"subjects":[{"kind":"User","user":{"name":"*"}}],"resourceRules":[{"verbs":["*"],"apiGroups":["*"],"resources":["*"],"namespaces":["*"]}]})",
        R"(,"matchingPrecedence":2)");
    twin.name = name;
    twin.uid = std::string("uid of ") + name;
    twin.level = "system";
    schemas.push_back(twin);
  }
  gate.configure(delivered_levels(), schemas);
  EXPECT_EQ(schema_for(user("jane", {}), resource("get", "", "pods", "x")), "aa/system");
}

TEST(FlowRules, ClusterScopeAndNamespacesAreAskedApart) {
  const std::string rule = R"({"subjects":[{"kind":"User","user":{"name":"u"}}],"resourceRules":[{"verbs":["get"],"apiGroups":[""],)"
                           R"("resources":["pods","pods/log"],"namespaces":["a","b"])";
  const UserInfo u = user("u", {});
  const FlowSchema named = schema_of(rule + "}]}");
  EXPECT_TRUE(matches(named, u, resource("get", "", "pods", "a")));
  EXPECT_TRUE(matches(named, u, resource("get", "", "pods", "b", "log")));
  EXPECT_FALSE(matches(named, u, resource("get", "", "pods", "b", "exec")));
  EXPECT_FALSE(matches(named, u, resource("get", "", "pods", "c")));
  EXPECT_FALSE(matches(named, u, resource("get", "", "pods")));
  EXPECT_FALSE(matches(named, u, resource("list", "", "pods", "a")));
  EXPECT_FALSE(matches(named, u, resource("get", "apps", "pods", "a")));
  EXPECT_FALSE(matches(named, user("v", {}), resource("get", "", "pods", "a")));
  EXPECT_TRUE(matches(schema_of(rule + R"(,"clusterScope":true}]})"), u, resource("get", "", "pods")));
}

TEST(FlowRules, MoreSubjectsThanThereAreBitsAreAskedToo) {
  std::vector<FlowSchema> schemas;
  for (int i = 0; i < 100; ++i) {
    schemas.push_back(schema_of(R"({"subjects":[{"kind":"User","user":{"name":"u)" + std::to_string(i) +
                                R"("}},{"kind":"Group","group":{"name":"g"}}],"nonResourceRules":[{"verbs":["*"],"nonResourceURLs":["/)" +
                                std::to_string(i) + R"("]}]})"));
  }
  const Classifier classifier(schemas);
  for (std::size_t i = 0; i < 100; ++i) {
    const RequestInfo where = path("get", "/" + std::to_string(i));
    EXPECT_EQ(classifier.find(user("u" + std::to_string(i), {}), where), i);
    EXPECT_EQ(classifier.find(user("x", {"g"}), where), i);
    EXPECT_EQ(classifier.find(user("x", {}), where), 99u) << "none: the last";
  }
}

TEST(FlowRules, PathsMayEndInAStar) {
  const FlowSchema schema = schema_of(
      R"({"subjects":[{"kind":"Group","group":{"name":"*"}}],"nonResourceRules":[{"verbs":["get"],"nonResourceURLs":["/logs/*","/version"]}]})");
  const UserInfo anybody = user("u", {});
  EXPECT_TRUE(matches(schema, anybody, path("get", "/logs/x/y")));
  EXPECT_TRUE(matches(schema, anybody, path("get", "/version")));
  EXPECT_FALSE(matches(schema, anybody, path("get", "/logs")));
  EXPECT_FALSE(matches(schema, anybody, path("get", "/versions")));
  EXPECT_FALSE(matches(schema, anybody, resource("get", "", "pods", "a"))) << "it is no path";
}

TEST(FlowRules, AServiceAccountIsAUserOfItsNamespace) {
  const auto of = [](const std::string& name) {
    return schema_of(R"({"subjects":[{"kind":"ServiceAccount","serviceAccount":{"namespace":"a","name":")" + name +
                     R"("}}],"nonResourceRules":[{"verbs":["*"],"nonResourceURLs":["*"]}]})");
  };
  EXPECT_TRUE(matches(of("x"), account("a", "x"), path("get", "/")));
  EXPECT_FALSE(matches(of("x"), account("a", "y"), path("get", "/")));
  EXPECT_TRUE(matches(of("*"), account("a", "y"), path("get", "/")));
  EXPECT_FALSE(matches(of("*"), account("ab", "y"), path("get", "/")));
}

TEST(FlowRules, AFlowIsAUserANamespaceOrAllRequests) {
  const RequestInfo pods = resource("get", "", "pods", "ns");
  const UserInfo jane = user("jane", {});
  EXPECT_EQ(schema_of("").flow_of(jane, pods), "");
  EXPECT_EQ(schema_of("", R"(,"distinguisherMethod":{"type":"ByUser"})").flow_of(jane, pods), "jane");
  EXPECT_EQ(schema_of("", R"(,"distinguisherMethod":{"type":"ByNamespace"})").flow_of(jane, pods), "ns");
}

// Upstream's numbers for 600 seats, as kube-apiserver's metrics show them.
TEST_F(GateTest, SeatsAreDividedByShares) {
  std::map<std::string, std::vector<int>> limits;
  for (const LevelState& state : gate.levels()) limits[state.configured.name] = {state.nominal, state.lower, state.upper};
  EXPECT_EQ(limits, (std::map<std::string, std::vector<int>>{{"catch-all", {13, 13, 613}},
                                                             {"exempt", {0, 0, 600}},
                                                             {"global-default", {49, 24, 649}},
                                                             {"leader-election", {25, 25, 625}},
                                                             {"node-high", {98, 73, 698}},
                                                             {"system", {74, 50, 674}},
                                                             {"workload-high", {98, 49, 698}},
                                                             {"workload-low", {245, 24, 845}}}));
}

TEST(Allocation, EveryClaimGetsTheSamePartOfItsTargetWithinItsBounds) {
  const auto even = allocate(30, {{10, 0, 100}, {20, 0, 100}});
  ASSERT_TRUE(even);
  EXPECT_NEAR(even->seats[0], 10, 1e-6);
  EXPECT_NEAR(even->seats[1], 20, 1e-6);
  const auto bound = allocate(60, {{10, 0, 12}, {20, 0, 100}, {10, 10, 100}});
  ASSERT_TRUE(bound);
  EXPECT_NEAR(bound->seats[0], 12, 1e-6);
  EXPECT_NEAR(bound->seats[1], 32, 1e-6);
  EXPECT_NEAR(bound->seats[2], 16, 1e-6);
  EXPECT_NEAR(bound->fair_part, 1.6, 1e-6);
  EXPECT_FALSE(allocate(5, {{10, 10, 20}})) << "less than the least";
  EXPECT_FALSE(allocate(50, {{10, 10, 20}}));
}

LevelDemand demand_of(int nominal, int lower, int upper, int wanted) {
  LevelDemand level{false, nominal, lower, upper, nominal, {}};
  level.demand.next_period(true, wanted, 0, wanted);
  return level;
}

TEST(Allocation, UnusedSeatsAreLent) {
  // One level needs ten times its seats; another lends half of its seats; the third lends none.
  const LevelLimits limits = share_seats({demand_of(10, 5, 110, 100), demand_of(60, 30, 160, 0), demand_of(30, 30, 130, 0)});
  EXPECT_EQ(limits.current, (std::vector<int>{40, 30, 30}));
  // Both levels need all seats: each has its nominal number.
  const LevelLimits full = share_seats({demand_of(40, 20, 140, 500), demand_of(60, 30, 160, 500)});
  EXPECT_EQ(full.current, (std::vector<int>{40, 60}));
  // A level that may not borrow has at most its nominal number.
  EXPECT_EQ(share_seats({demand_of(10, 5, 10, 100), demand_of(90, 0, 190, 0)}).current.front(), 10);
}

TEST(Allocation, SeatsOfExemptRequestsReduceTheSeatsThatCanBeLent) {
  LevelDemand exempt{true, 0, 0, 100, 0, {}};
  exempt.demand.next_period(true, 50, 0, 50);
  const LevelLimits some = share_seats({exempt, demand_of(60, 20, 160, 0), demand_of(40, 10, 140, 40)});
  EXPECT_EQ(some.current[0], 50);
  EXPECT_EQ(some.targets[0], 50);
  exempt.demand.next_period(true, 500, 0, 500);
  EXPECT_EQ(share_seats({exempt, demand_of(60, 20, 160, 60), demand_of(40, 10, 140, 40)}).current, (std::vector<int>{500, 20, 10}));
}

TEST(Allocation, DemandRisesAtOnceAndFallsSlowly) {
  SmoothedDemand demand;
  demand.next_period(true, 10, 2, 15);
  EXPECT_NEAR(demand.smoothed, 12, 1e-9);
  demand.next_period(true, 0, 0, 0);
  EXPECT_NEAR(demand.smoothed, 12 * 0.977, 1e-9);
  EXPECT_EQ(demand.most, 0);
}

TEST_F(GateTest, ARefusedRequestHasRetryAfterAndTheUidsOfSchemaAndLevel) {
  add_one_seat(0);
  Asked first = one_of_few(), second = one_of_few(), admin(user("a", {"system:masters"}), path("get", "/version"));
  EXPECT_EQ(first.enter(gate), GateAnswer::kEnter);
  EXPECT_EQ(second.enter(gate), GateAnswer::kRefuse);
  EXPECT_EQ(second.exchange.sent_as("Retry-After"), "1");
  EXPECT_EQ(second.exchange.sent_as("X-Kubernetes-Pf-Prioritylevel-Uid"), "uid of few");
  EXPECT_EQ(second.exchange.sent_as("X-Kubernetes-Pf-Flowschema-Uid"), "u");
  EXPECT_EQ(admin.enter(gate), GateAnswer::kEnter);
  EXPECT_EQ(level("few")->level->counts_of("s").rejected[kConcurrencyLimit].load(), 1u);
  gate.leave(first.pass);
  gate.leave(admin.pass);
  EXPECT_EQ(second.enter(gate), GateAnswer::kEnter);
  gate.leave(second.pass);
}

TEST_F(GateTest, AWaitingRequestRunsWhenASeatIsFree) {
  add_one_seat(1);
  Asked first = one_of_few(), second = one_of_few(), third = one_of_few();
  EXPECT_EQ(first.enter(gate), GateAnswer::kEnter);
  EXPECT_EQ(second.enter(gate), GateAnswer::kWait);
  EXPECT_EQ(second.exchange.sent.size(), 0u);
  second.wait(gate, executor);
  EXPECT_FALSE(second.admitted);
  third.wait(gate, executor);
  EXPECT_EQ(third.admitted, false) << "the queue is full";
  EXPECT_EQ(level("few")->level->counts_of("s").rejected[kQueueFull].load(), 1u);
  const std::string dump = dump_requests(gate.levels(), gate.running(), false);
  EXPECT_NE(dump.find("few,               s,              0,          0,"), std::string::npos) << dump;
  EXPECT_NE(dump.find("few,               s,              -1,         -1,"), std::string::npos) << dump;
  EXPECT_NE(dump_requests(gate.levels(), gate.running(), true).find("StartTime,                      UserName, "), std::string::npos);
  gate.leave(first.pass);
  executor.run_until_idle();
  EXPECT_EQ(second.admitted, true);
  EXPECT_EQ(second.exchange.sent_as("X-Kubernetes-Pf-Prioritylevel-Uid"), "uid of few");
  EXPECT_FALSE(second.exchange.close) << "a closed client is not reported any more";
  gate.leave(second.pass);
  EXPECT_TRUE(level("few")->level->idle());
}

TEST_F(GateTest, AWaitingRequestIsRefusedAtItsTimeLimitOrIfTheClientDisconnects) {
  add_one_seat(1);
  Asked first = one_of_few(), late = one_of_few(), gone = one_of_few();
  EXPECT_EQ(first.enter(gate), GateAnswer::kEnter);
  late.wait(gate, executor);
  EXPECT_LE(executor.delays.back(), 15s) << "a quarter of the time that it has";
  EXPECT_GT(executor.delays.back(), 10s);
  executor.fire_timers();
  EXPECT_EQ(late.admitted, false);
  EXPECT_EQ(late.exchange.sent_as("Retry-After"), "1");
  gone.wait(gate, executor);
  ASSERT_TRUE(gone.exchange.close);
  gone.exchange.close();
  executor.run_until_idle();
  EXPECT_EQ(gone.admitted, false);
  EXPECT_EQ(level("few")->level->counts_of("s").rejected[kTimeOut].load(), 2u);
  EXPECT_EQ(level("few")->level->waiting(), 0);
  gate.leave(first.pass);
  EXPECT_TRUE(level("few")->level->idle());
}

TEST_F(GateTest, ALevelThatIsRemovedServesThoseThatWaitAndGoes) {
  add_one_seat(1);
  Asked first = one_of_few(), second = one_of_few(), third = one_of_few();
  EXPECT_EQ(first.enter(gate), GateAnswer::kEnter);
  second.wait(gate, executor);
  gate.configure(delivered_levels(), delivered_schemas());
  ASSERT_NE(level("few"), nullptr);
  EXPECT_TRUE(level("few")->leaving);
  EXPECT_EQ(third.enter(gate), GateAnswer::kEnter) << "it is another's now";
  EXPECT_NE(third.exchange.sent_as("X-Kubernetes-Pf-Prioritylevel-Uid"), "uid of few");
  gate.sweep();
  ASSERT_NE(level("few"), nullptr) << "it is not empty";
  gate.leave(first.pass);
  executor.run_until_idle();
  EXPECT_EQ(second.admitted, true);
  gate.leave(second.pass);
  gate.leave(third.pass);
  gate.sweep();
  EXPECT_EQ(level("few"), nullptr);
}

TEST_F(GateTest, ALevelThatComesBackWhileItDrainsGoesOn) {
  add_one_seat(1);
  Asked first = one_of_few();
  EXPECT_EQ(first.enter(gate), GateAnswer::kEnter);
  gate.configure(delivered_levels(), delivered_schemas());
  const auto before = level("few")->level;
  add_one_seat(1);
  EXPECT_EQ(level("few")->level, before);
  EXPECT_FALSE(level("few")->leaving);
  gate.leave(first.pass);
  EXPECT_TRUE(before->idle());
}

// Levels are added and removed during requests: a running request leaves the level that has admitted it.
TEST_F(GateTest, TheConfigurationMayChangeWhileRequestsComeAndGo) {
  std::atomic<bool> over{false};
  std::atomic<int> served{0};
  const auto ask = [&] {
    while (!over.load()) {
      Asked asked = one_of_few();
      if (asked.enter(gate) != GateAnswer::kEnter) continue;
      ++served;
      std::this_thread::yield();
      gate.leave(asked.pass);
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(ask);
  for (int round = 0; round < 60; ++round) {
    add_one_seat(round % 3, 2);
    gate.adjust();
    gate.measured();
    gate.configure(delivered_levels(), delivered_schemas());
    gate.sweep();
  }
  over = true;
  for (auto& thread : threads) thread.join();
  EXPECT_GT(served.load(), 0);
  gate.sweep();
  EXPECT_EQ(level("few"), nullptr);
  for (const LevelState& state : gate.levels()) EXPECT_TRUE(state.level->idle()) << state.configured.name;
}

TEST(Gate, WithoutObjectsTheMandatoryLevelsExist) {
  Gate gate(100, 60s);
  const auto levels = gate.levels();
  ASSERT_EQ(levels.size(), 2u);
  EXPECT_EQ(levels[0].nominal, 100) << "all requests that are not exempt";
  Asked somebody(user("jane", {"system:authenticated"}), resource("get", "", "pods"));
  EXPECT_EQ(somebody.enter(gate), GateAnswer::kEnter);
  EXPECT_EQ(somebody.exchange.sent_as("X-Kubernetes-Pf-Prioritylevel-Uid"), "") << "it has no UID yet, and says so";
  gate.leave(somebody.pass);
}

TEST_F(GateTest, TheServersOwnRequestsTakeNoSeatsFromClients) {
  std::vector<std::unique_ptr<Asked>> own;
  for (int i = 0; i < 50; ++i) {
    own.push_back(std::make_unique<Asked>(user("system:apiserver", {"system:masters"}), resource("create", "", "pods")));
    EXPECT_EQ(own.back()->enter(gate), GateAnswer::kEnter);
  }
  EXPECT_EQ(level("exempt")->level->take_demand(std::chrono::steady_clock::now()).most, 0);
  Asked admin(user("admin", {"system:masters"}), resource("create", "", "pods"));
  EXPECT_EQ(admin.enter(gate), GateAnswer::kEnter);
  EXPECT_EQ(level("exempt")->level->take_demand(std::chrono::steady_clock::now()).most, 1);
  for (auto& each : own) gate.leave(each->pass);
  gate.leave(admin.pass);
  EXPECT_TRUE(level("exempt")->level->idle());
}

TEST_F(GateTest, ASchemaWithoutItsLevelIsLeftOut) {
  auto levels_left = delivered_levels();
  std::erase_if(levels_left, [](const PriorityLevel& each) { return each.name == "global-default"; });
  gate.configure(levels_left, delivered_schemas());
  EXPECT_EQ(schema_for(user("jane", {"system:authenticated"}), resource("list", "", "pods")), "catch-all/catch-all");
}

// `info` with the query of `target`.
RequestInfo with_query(RequestInfo info, const std::string& target) {
  const auto question = target.find('?');
  if (question != std::string::npos) info.query = parse_query_leniently(std::string_view(target).substr(question + 1), info.query_error);
  return info;
}

TEST(Width, WithoutTheGateAListTakesASeatForEachHundredObjects) {
  const StoredCounts stored = {{"pods", {450, 450'000'000}}, {"deployments.apps", {5000, 1}}};
  const auto width = [&](const RequestInfo& info, std::string target) {
    return list_width(with_query(info, target), stored, 0, ListCost::kObjects);
  };
  const RequestInfo pods = resource("list", "", "pods"), deployments = resource("list", "apps", "deployments");
  EXPECT_EQ(width(pods, "/api/v1/pods"), 5u);
  EXPECT_EQ(width(deployments, "/apis/apps/v1/deployments"), 10u) << "no more than ten";
  EXPECT_EQ(list_width(deployments, stored, 3, ListCost::kObjects), 3u) << "or what the level allows";
  EXPECT_EQ(width(resource("list", "", "secrets"), "/api/v1/secrets"), 1u) << "nothing is known of them";
  EXPECT_EQ(width(pods, "/api/v1/pods?limit=100&continue=x"), 2u) << "what is looked at, and what is given";
  EXPECT_EQ(width(pods, "/api/v1/pods?limit=100&continue=x&labelSelector=a"), 6u);
  EXPECT_EQ(width(pods, "/api/v1/pods?limit=100"), 5u) << "a cache goes through all of them";
  EXPECT_EQ(width(pods, "/api/v1/pods?limit=many"), 10u) << "it will fail, and gains nothing by it";
  RequestInfo one = pods;
  one.name = "x";
  EXPECT_EQ(width(one, "/api/v1/pods?fieldSelector=metadata.name%3Dx"), 1u);
}

TEST(Width, AListTakesASeatForEachHundredKilobytesThatItHoldsAtOnce) {
  const StoredCounts stored = {{"configmaps", {400, 400 * 20'200}}, {"pods", {1000, 1000 * 2'000}}, {"secrets", {3, 0}}};
  const auto width = [&](const char* name, std::string target) {
    return list_width(with_query(resource("list", "", name), target), stored, 0, ListCost::kBytes);
  };
  EXPECT_EQ(width("configmaps", "/"), 10u) << "a list from the cache is written piece by piece";
  EXPECT_EQ(width("configmaps", "/?limit=50&resourceVersion=7"), 11u);
  EXPECT_EQ(width("configmaps", "/?limit=10&resourceVersion=7"), 3u);
  EXPECT_EQ(width("configmaps", "/?limit=10"), 3u);
  EXPECT_EQ(width("configmaps", "/?resourceVersion=7&resourceVersionMatch=Exact"), 81u);
  EXPECT_EQ(width("configmaps", "/?limit=10&resourceVersion=7&labelSelector=a"), 41u) << "half of all are looked at";
  EXPECT_EQ(width("pods", "/?limit=10"), 1u);
  EXPECT_EQ(width("secrets", "/?resourceVersion=7&resourceVersionMatch=Exact"), 45u) << "of an unknown size they are the largest";
  EXPECT_EQ(width("configmaps", "/?limit=many"), 100u) << "it will fail, and gains nothing by it";
  EXPECT_EQ(list_width(resource("list", "", "configmaps"), stored, 4, ListCost::kBytes), 4u) << "or what the level allows";
  RequestInfo one = resource("list", "", "configmaps");
  one.name = "x";
  EXPECT_EQ(list_width(one, stored, 0, ListCost::kBytes), 1u);
}

TEST(Width, AWatchTakesThemWhenItBeginsWithAList) {
  const StoredCounts stored = {{"pods", {450, 450'000}}};
  const auto width = [&](std::string target) {
    return list_width(with_query(resource("watch", "", "pods"), target), stored, 0, ListCost::kBytes);
  };
  EXPECT_EQ(width("/api/v1/pods?watch=1"), 5u);
  EXPECT_EQ(width("/api/v1/pods?watch=1&resourceVersion=0"), 5u);
  EXPECT_EQ(width("/api/v1/pods?watch=1&resourceVersion=7"), 1u);
  EXPECT_EQ(width("/api/v1/pods?watch=1&resourceVersion=7&sendInitialEvents=true"), 5u);
}

TEST_F(GateTest, MetricsHaveUpstreamsNames) {
  add_one_seat(0);
  Asked first = one_of_few(), second = one_of_few();
  first.enter(gate);
  second.enter(gate);
  std::map<std::string, Metric::Snapshot> shown;
  for (auto& each : gate.measured()) shown[each.name] = each;
  const std::vector<std::string> few = {"s", "few"};
  EXPECT_EQ(shown["apiserver_flowcontrol_dispatched_requests_total"].series[few].value, 1);
  EXPECT_EQ((shown["apiserver_flowcontrol_rejected_requests_total"].series[{"s", "few", "concurrency-limit"}].value), 1);
  EXPECT_EQ(shown["apiserver_flowcontrol_current_executing_requests"].series[few].value, 1);
  EXPECT_EQ(shown["apiserver_flowcontrol_current_executing_seats"].series[few].value, 1);
  EXPECT_EQ(shown["apiserver_flowcontrol_nominal_limit_seats"].series[{"few"}].value, 1);
  EXPECT_EQ(shown["apiserver_flowcontrol_work_estimated_seats"].series[few].count, 2u);
  gate.leave(first.pass);
  for (auto& each : gate.measured()) shown[each.name] = each;
  EXPECT_EQ((shown["apiserver_flowcontrol_request_execution_seconds"].series[{"s", "few", "regular"}].count), 1u);
  EXPECT_EQ((shown["apiserver_flowcontrol_request_wait_duration_seconds"].series[{"true", "s", "few"}].count), 1u);
}

TEST_F(GateTest, DumpsAreTablesOfText) {
  const std::string table = dump_levels(gate.levels());
  EXPECT_TRUE(table.starts_with("PriorityLevelName, ActiveQueues, IsIdle, IsQuiescing, WaitingRequests, ")) << table;
  EXPECT_NE(table.find("\ncatch-all,         0,            true,   false,       0,"), std::string::npos) << table;
  EXPECT_NE(dump_queues(gate.levels()).find("\nglobal-default,    127,    0,"), std::string::npos) << dump_queues(gate.levels());
}

// Regression: each thread of a reloaded plugin left metric cells behind.
TEST(RunningRequests, ANewThreadTakesTheSetOfOneThatHasEnded) {
  const auto one_request = [] {
    RequestContext context;
    GatePass pass;
    RunningRequests::enter(nullptr, context, pass, {});
    RunningRequests::leave(pass);
  };
  std::thread(one_request).join();
  const std::size_t before = RunningRequests::sets();
  for (int i = 0; i < 5; ++i) std::thread(one_request).join();
  EXPECT_EQ(RunningRequests::sets(), before);
}

}  // namespace
}  // namespace backplane::flowcontrol
