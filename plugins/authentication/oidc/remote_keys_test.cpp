#include "oidc/remote_keys.hpp"

#include <gtest/gtest.h>

#include "fake_host.hpp"
#include "tokens/token_test_kit.hpp"

namespace backplane::authentication {
namespace {

using namespace std::chrono_literals;

std::chrono::seconds lifetime(const char* name, const char* value) {
  return cache_lifetime({200, {{name, value}}, ""}, std::chrono::system_clock::time_point(784111777s));
}

TEST(CacheLifetimeTest, TheHeadersOfTheResponseDecide) {
  EXPECT_EQ(lifetime("Cache-Control", "public, max-age=60"), 60s);
  EXPECT_EQ(lifetime("cache-control", "max-age=60, s-maxage=90"), 90s);
  EXPECT_EQ(lifetime("Expires", "Sun, 06 Nov 1994 08:50:37 GMT"), 60s);
  EXPECT_EQ(lifetime("Expires", "Sun, 06 Nov 1990 08:50:37 GMT"), 0s);
  for (const char* none : {"no-store", "max-age", "max-age=", "max-age=-1", "max-age=x", "xmax-age=60"})
    EXPECT_EQ(lifetime("Cache-Control", none), 0s) << none;
  EXPECT_EQ(lifetime("Cache-Control", "max-age=99999999999"), 24h) << "a day at most";
}

TEST(FetchLimitTest, ABurstAndThenOneForEachInterval) {
  FetchLimit limit(2, 1s);
  auto now = std::chrono::steady_clock::time_point(1h);
  EXPECT_EQ(limit.take(now), 0s);
  EXPECT_EQ(limit.take(now), 0s);
  EXPECT_EQ(limit.take(now), 1s);
  EXPECT_EQ(limit.take(now += 1s), 1s) << "the use before has been reserved";
  EXPECT_EQ(limit.take(now += 2s), 0s);
  EXPECT_EQ(limit.take(now + 1h), 0s);
}

// The server of a provider: throws, never responds, or responds with a key set without keys.
class KeyServer final : public HttpClient {
 public:
  class Answer final : public HttpAnswer {
   public:
    int code() const noexcept override { return 200; }
    const Headers& headers() const noexcept override { return headers_; }
    Task<Result<std::string>> read() override { co_return std::exchange(body_, {}); }
    void cancel() override {}

   private:
    std::string body_ = R"({"keys":[]})";
    const Headers headers_;
  };
  Task<Result<std::unique_ptr<HttpAnswer>>> call(HttpCall call) override {
    ++calls;
    deadline = call.deadline;
    if (broken) throw std::runtime_error("out of memory");
    if (silent) co_await never.future();
    co_return std::unique_ptr<HttpAnswer>(std::make_unique<Answer>());
  }
  bool broken = false, silent = false;
  int calls = 0;
  std::chrono::steady_clock::time_point deadline;
  Promise<bool> never;
};

struct RemoteKeysTest : ::testing::Test {
  RemoteKeysTest() {
    host.clients = [this](ClientConfig) { return std::shared_ptr<HttpClient>(server); };
  }
  // Requests the keys for a token that no key verifies; `waits`: called while the call waits.
  std::string error(
      std::chrono::seconds limit = 30s, const std::function<void()>& waits = [] {}) {
    std::optional<Status> status;
    host.turns.start(keep_result(keys->verify(std::make_shared<kit::Jws>(), std::chrono::steady_clock::now() + limit), status));
    waits();
    return status ? status->message() : "no result";
  }
  test::FakeHost host;
  std::shared_ptr<KeyServer> server = std::make_shared<KeyServer>();
  std::shared_ptr<OidcClient> client = std::make_shared<OidcClient>(host, "", nullptr);
  std::shared_ptr<RemoteKeys> keys = std::make_shared<RemoteKeys>(host, client, "https://keys.example/jwks", [](const std::string*) {});
};

TEST_F(RemoteKeysTest, AFetchThatThrowsDoesNotEndAllFetches) {
  server->broken = true;
  EXPECT_EQ(error(), "fetching keys oidc: get keys failed out of memory");
  server->broken = false;
  EXPECT_EQ(error(), "failed to verify id token signature");
  EXPECT_EQ(server->calls, 2);
}

TEST_F(RemoteKeysTest, ACallWaitsForKeysUntilItsDeadline) {
  server->silent = true;
  EXPECT_EQ(error(5s, [this] { host.turns.fire_timers(); }), "fetching keys context deadline exceeded");
  ASSERT_FALSE(host.turns.delays.empty());
  EXPECT_LE(host.turns.delays.back(), 5s);
  EXPECT_EQ(host.running, 1) << "the fetch goes on for others";
  server->never.set(true);
  host.turns.run_until_idle();
  EXPECT_EQ(host.running, 0);
}

TEST_F(RemoteKeysTest, AGetEndsAtTheEarlierOfItsLimitAndTheDeadline) {
  std::optional<Result<OidcReply>> reply;
  const auto deadline = std::chrono::steady_clock::now() + 5s;
  host.turns.start(keep_result(client->get("https://claims.example/", "", deadline), reply));
  EXPECT_EQ(server->deadline, deadline);
  host.turns.start(keep_result(client->get("https://claims.example/"), reply));
  EXPECT_LE(server->deadline, std::chrono::steady_clock::now() + 30s);
}

}  // namespace
}  // namespace backplane::authentication
