#include "tokens/token_union.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "backplane/kit/base64url.hpp"
#include "tokens/token_test_kit.hpp"

namespace backplane::authentication {
namespace {

using namespace std::chrono_literals;

class FakeSource final : public TokenSource {
 public:
  explicit FakeSource(std::string token, std::vector<std::string> audiences = {})
      : token_(std::move(token)), audiences_(std::move(audiences)) {}
  std::string_view name() const noexcept override { return "fake"; }
  Task<AuthenticationResult> authenticate(std::string token, std::vector<std::string> audiences, TokenNotes& notes) override {
    ++calls;
    asked = std::move(audiences);
    if (gate) {
      auto until = gate->future();
      co_await until;
    }
    if (throws) throw std::runtime_error("broken");
    if (token == "bad") co_return unauthorized("bad " + token_);
    if (token != token_) co_return std::optional<AuthenticationResponse>();
    notes.annotations["a"] = "b";
    notes.warnings.emplace_back("w");
    AuthenticationResponse response;
    response.user.name = "user of " + token_;
    response.audiences = audiences_;
    co_return std::optional<AuthenticationResponse>(std::move(response));
  }

  int calls = 0;
  bool throws = false;
  std::vector<std::string> asked;
  std::optional<Promise<bool>> gate;

 private:
  const std::string token_;
  const std::vector<std::string> audiences_;
};

class TokenUnionTest : public testing::Test {
 protected:
  TokenUnionTest() {
    auto options = TokenUnion::cache_options();
    options.now = [this] { return now; };
    std::vector<TokenUnion::Entry> entries{{first, true}, {second, false}};
    tokens = std::make_shared<TokenUnion>(std::move(entries), std::vector<std::string>{"api", "other"}, std::move(options));
  }
  std::string review(const std::string& token, std::vector<std::string> audiences = {}) {
    return outcome(result_of(tokens->authenticate_token(token, std::move(audiences))));
  }
  std::string request(RequestContext& context, Headers headers) {
    HeaderExchange exchange(std::move(headers));
    auto known = tokens->authenticate_now(context, exchange);
    return outcome(known ? std::move(*known) : result_of(tokens->authenticate(context, exchange)));
  }

  TokenCache::Clock::time_point now{1h};
  std::shared_ptr<FakeSource> first = std::make_shared<FakeSource>("one"),
                              second = std::make_shared<FakeSource>("two", std::vector<std::string>{"x"});
  std::shared_ptr<TokenUnion> tokens;
};

TEST_F(TokenUnionTest, TheFirstSourceThatKnowsTheTokenDecides) {
  EXPECT_EQ(review("one"), "user of one");
  EXPECT_EQ(second->calls, 0);
  EXPECT_EQ(review("two"), "user of two");
  EXPECT_EQ(review("three"), "unknown");
  EXPECT_EQ(review("bad"), "[bad one, bad two]");
}

TEST_F(TokenUnionTest, AudienceAgnosticTokensAreForTheApiServerOnly) {
  EXPECT_EQ(first->asked.size(), 0U);
  EXPECT_EQ(review("one", {"x"}), "unknown");
  EXPECT_EQ(first->calls, 0) << "the source does not see tokens for other audiences";
  const auto found = result_of(tokens->authenticate_token("one", {"x", "other", "api"}));
  EXPECT_EQ((*found)->audiences, (std::vector<std::string>{"other", "api"}));
  review("two", {"x"});
  EXPECT_EQ(second->asked, std::vector<std::string>{"x"});
  EXPECT_EQ((*result_of(tokens->authenticate_token("two", {})))->audiences, std::vector<std::string>{"x"});
  EXPECT_EQ(second->asked, (std::vector<std::string>{"api", "other"}));
}

TEST_F(TokenUnionTest, UsersAreCachedForTenSecondsAndFailuresAreNot) {
  review("one"), review("one");
  EXPECT_EQ(first->calls, 1);
  review("one", {"api"});
  EXPECT_EQ(first->calls, 2) << "other audiences";
  now += 10s;
  review("one");
  EXPECT_EQ(first->calls, 3);
  first->calls = 0;
  review("bad"), review("bad"), review("none"), review("none");
  EXPECT_EQ(first->calls, 4);
}

TEST_F(TokenUnionTest, ConcurrentRequestsShareALookUp) {
  first->gate.emplace();
  test::TurnExecutor turns;
  std::optional<AuthenticationResult> results[3];
  for (auto& result : results) turns.start(keep_result(tokens->authenticate_token("one", {}), result));
  turns.run_until_idle();
  EXPECT_EQ(first->calls, 1);
  EXPECT_FALSE(results[0] || results[2]);
  first->gate->set(true);
  turns.run_until_idle();
  for (const auto& result : results) EXPECT_EQ(outcome(result.value()), "user of one");
}

TEST_F(TokenUnionTest, ASourceThatThrowsIsAnErrorOfThatToken) {
  first->throws = true;
  EXPECT_EQ(review("two"), "Internal error occurred: authentication failed unexpectedly");
  first->throws = false;
  EXPECT_EQ(review("two"), "user of two");
}

TEST_F(TokenUnionTest, RequestsGetTheNotesOfTheirToken) {
  for (int hit = 0; hit < 2; ++hit) {
    RequestContext context;
    EXPECT_EQ(request(context, {{"authorization", "Bearer one"}}), "user of one");
    EXPECT_EQ(context.audit_annotations().at("a"), "b");
    EXPECT_EQ(context.warnings(), std::vector<std::string>{"w"});
  }
  EXPECT_EQ(first->calls, 1);
  RequestContext context;
  EXPECT_EQ(request(context, {{"authorization", "Bearer bad"}}), "[bad one, bad two]");
  EXPECT_EQ(request(context, {{"authorization", "Bearer three"}}), "invalid bearer token");
  EXPECT_EQ(request(context, {}), "unknown");
  EXPECT_TRUE(context.warnings().empty() && context.audit_annotations().empty());
  EXPECT_EQ(request(context, {{"authorization", "Bearer  one"}}), "unknown");
  EXPECT_EQ(context.warnings().size(), 1U) << "a space too many";
}

TEST_F(TokenUnionTest, AWebSocketHasItsTokenInAProtocol) {
  const auto headers = [](const std::string& token) {
    return Headers{{"connection", "Upgrade"},
                   {"upgrade", "websocket"},
                   {"sec-websocket-protocol", "base64url.bearer.authorization.k8s.io." + token + ",v5"}};
  };
  RequestContext context;
  EXPECT_EQ(request(context, headers(kit::to_base64url("two"))), "user of two");
  EXPECT_EQ(request(context, headers("?")), "invalid base64.bearer.authorization token encoding");
  Headers both = headers(kit::to_base64url("two"));
  both.emplace_back("authorization", "Bearer three");
  EXPECT_EQ(request(context, both), "user of two") << "the header's token is tried first";
}

}  // namespace
}  // namespace backplane::authentication
