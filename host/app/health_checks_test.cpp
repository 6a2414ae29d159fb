#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <map>
#include <set>
#include <thread>

#include "app/health_checks.hpp"
#include "app/log_check.hpp"
#include "base/io_loop.hpp"
#include "http/local_client.hpp"
#include "routing/health.hpp"

namespace backplane {
namespace {

using namespace std::chrono_literals;

// Sets what the request info filter sets in a server.
class Root final : public HttpHandler {
 public:
  Root(HttpHandler& next, std::string path) : next_(next), path_(std::move(path)) {}
  Task<void> handle(RequestContext& context, Exchange& exchange) override {
    context.info.path = path_;
    const std::string_view target = exchange.target();
    if (const auto question = target.find('?'); question != std::string_view::npos) {
      context.info.query = parse_query_leniently(target.substr(question + 1), context.info.query_error);
    }
    return next_.handle(context, exchange);
  }

 private:
  HttpHandler& next_;
  std::string path_;
};

class HealthTest : public ::testing::Test {
 protected:
  HealthTest() { loop_.start(); }
  ~HealthTest() override { loop_.stop(); }

  void add(std::string name, std::string group = {}) {
    ASSERT_TRUE(registry_
                    .add(make_health_check(
                             name, [this, name] { return answer(name); }, std::move(group)),
                         {})
                    .ok());
  }
  void install() { install(registry_); }
  void install(HealthRegistry& registry) {
    for (auto& route : registry.install({})) routes_[route.path] = route.handler;
  }
  std::string get(const std::string& path, const std::string& query = {}) {
    Root root(*routes_.at(path), path);
    LoggedTaskGroup tasks;
    std::string body = run_on(loop_, fetch(make_local_client(root, tasks), path + query));
    tasks.close();
    run_on(loop_, tasks.wait_all());
    return body;
  }

  static Task<std::string> fetch(std::shared_ptr<HttpClient> client, std::string target) {
    HttpCall call;
    call.target = std::move(target);
    auto answered = co_await client->call(std::move(call));
    if (!answered.ok()) co_return answered.status().message();
    auto body = co_await read_all(**answered);
    co_return body.ok() ? *body : body.status().message();
  }
  Task<Status> answer(std::string name) {
    if (broken_.contains(name)) co_return Status(Reason::kInternalError, "broken");
    co_return Status();
  }

  std::set<std::string> broken_;
  HealthRegistry registry_;

 private:
  IoLoop loop_{"test"};
  std::map<std::string, std::shared_ptr<HttpHandler>> routes_;
};

TEST_F(HealthTest, AGroupIsExcludedTogetherAndACheckByItsOwnName) {
  for (const auto& [name, group] : std::map<std::string, std::string>{{"etcd", "etcd"}, {"etcd-override-0", "etcd"}, {"ping", ""}}) {
    add(name, group);
    broken_.insert(name);
  }
  install();
  broken_.erase("ping");
  EXPECT_EQ(get("/livez", "?exclude=etcd&verbose"),
            "[+]etcd excluded: ok\n[+]etcd-override-0 excluded with etcd: ok\n[+]ping ok\nlivez check passed\n");
  EXPECT_EQ(get("/livez", "?exclude=etcd-override-0&exclude=nothing"),
            "[-]etcd failed: reason withheld\n[+]etcd-override-0 excluded: ok\n[+]ping ok\n"
            "warn: some health checks cannot be excluded: no matches for \"nothing\"\nlivez check failed\n");
}

TEST_F(HealthTest, AnExpiredLoopbackCertificateIsReported) {
  const auto now = std::chrono::system_clock::now();
  for (const auto expires : {now + 1h, now - 1s}) {
    HealthRegistry registry;
    ASSERT_TRUE(registry.add(loopback_certificate_check(expires), {}).ok());
    install(registry);
    EXPECT_EQ(get("/livez"), expires > now ? "ok" : "[-]loopback-serving-certificate failed: reason withheld\nlivez check failed\n");
  }
}

TEST_F(HealthTest, HooksAreShownInUpstreamsOrderAndOthersBehindThem) {
  std::vector<PlacedCheck> checks;
  for (const char* name : {"poststarthook/b-own", "poststarthook/bootstrap-controller", "autoregister-completion",
                           "poststarthook/start-apiextensions-informers", "a-own"}) {
    checks.push_back({make_health_check(name, [this, name] { return answer(name); }), {}});
  }
  ASSERT_TRUE(add_in_known_order(registry_, std::move(checks)).ok());
  install();
  EXPECT_EQ(get("/readyz", "?verbose"),
            "[+]poststarthook/start-apiextensions-informers ok\n[+]poststarthook/bootstrap-controller ok\n[+]autoregister-completion ok\n"
            "[+]poststarthook/b-own ok\n[+]a-own ok\nreadyz check passed\n");
}

TEST_F(HealthTest, ResultsOfEndpointsAreCountedAndThoseOfSingleChecksAreNot) {
  add("ping");
  add("etcd");
  install();
  EXPECT_TRUE(registry_.observed().empty());
  get("/livez");
  broken_.insert("etcd");
  get("/livez");
  get("/livez/etcd");
  const auto seen = registry_.observed();
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[1].name, "etcd");
  EXPECT_EQ(seen[1].endpoint, "livez");
  EXPECT_FALSE(seen[1].healthy);
  EXPECT_EQ(seen[1].successes, 1u);
  EXPECT_EQ(seen[1].errors, 1u);
  EXPECT_TRUE(seen[0].healthy);
  EXPECT_EQ(seen[0].successes, 2u);
}

TEST_F(HealthTest, FailedBootChecksPassOnLivezOnlyDuringTheGracePeriod) {
  HealthRegistry patient(1h);
  HealthRegistry strict(0s);
  broken_.insert("boot");
  for (HealthRegistry* registry : {&patient, &strict}) {
    auto check = make_health_check("boot", [this] { return answer("boot"); });
    ASSERT_TRUE(registry->add(std::move(check), {.boot_sequence = true}).ok());
    install(*registry);
    EXPECT_EQ(get("/livez"), registry == &patient ? "ok" : "[-]boot failed: reason withheld\nlivez check failed\n");
    EXPECT_EQ(get("/readyz"), "[-]boot failed: reason withheld\nreadyz check failed\n");
    EXPECT_EQ(get("/healthz"), "[-]boot failed: reason withheld\nhealthz check failed\n");
  }
}

TEST_F(HealthTest, NothingCanBeAddedOnceTheEndpointsExist) {
  install();
  const Status late = registry_.add(make_health_check("late", [this] { return answer("late"); }), {});
  EXPECT_EQ(late.message(), "unable to add because the healthz endpoint has already been created");
}

TEST(LogCheck, IsRedWhileAFlushDoesNotComeBack) {
  IoLoop loop("test");
  loop.start();
  std::atomic<std::chrono::steady_clock::time_point> now{std::chrono::steady_clock::time_point{} + 1h};
  std::promise<void> reads;
  auto reading = reads.get_future().share();
  std::atomic<int> flushes{0};
  LogCheckConfig config;
  config.now = [&now] { return now.load(); };
  config.interval = 1ms;
  config.flush = [&flushes, reading] {
    ++flushes;
    reading.wait();
  };
  auto check = make_log_check(std::move(config));
  EXPECT_TRUE(run_on(loop, check->check()).ok());
  now.store(now.load() + 119s);
  EXPECT_TRUE(run_on(loop, check->check()).ok());
  now.store(now.load() + 1s);
  const Status red = run_on(loop, check->check());
  EXPECT_FALSE(red.ok());
  EXPECT_EQ(red.message(), "logging blocked");
  reads.set_value();
  while (flushes < 2) std::this_thread::yield();  // one server is reachable again
  EXPECT_TRUE(run_on(loop, check->check()).ok());
  loop.stop();
}

}  // namespace
}  // namespace backplane
