#include "backplane/kit/review_webhook.hpp"

#include <gtest/gtest.h>

#include <deque>

#include "fake_host.hpp"

namespace backplane::kit {
namespace {

using namespace std::chrono_literals;
using test::FakeHost;
using End = ReviewAttempt::End;

class ReviewAnswer final : public HttpAnswer {
 public:
  ReviewAnswer(int code, Headers headers, std::string body) : code_(code), headers_(std::move(headers)), body_(std::move(body)) {}
  int code() const noexcept override { return code_; }
  const Headers& headers() const noexcept override { return headers_; }
  Task<Result<std::string>> read() override { co_return std::exchange(body_, std::string()); }
  void cancel() override {}

 private:
  const int code_;
  const Headers headers_;
  std::string body_;
};

struct ReviewLine {
  int code = 200;
  Headers headers = {};
  std::string body = "{}";
  Status problem = {};  // if it is an error, the call fails with it
};

// Returns the responses of the script in their order, and then repeats the last one.
class ReviewServer final : public HttpClient {
 public:
  Task<Result<std::unique_ptr<HttpAnswer>>> call(HttpCall call) override {
    calls.push_back(std::move(call));
    const ReviewLine now = script.front();
    if (script.size() > 1) script.pop_front();
    if (!now.problem.ok()) co_return now.problem;
    co_return std::unique_ptr<HttpAnswer>(std::make_unique<ReviewAnswer>(now.code, now.headers, now.body));
  }
  std::deque<ReviewLine> script = {{}};
  std::vector<HttpCall> calls;
};

class ReviewWebhookTest : public testing::Test {
 protected:
  ReviewWebhookTest() {
    host_.clients = [this](ClientConfig config) {
      config_ = std::move(config);
      return Result<std::shared_ptr<HttpClient>>(server_);
    };
  }
  static Task<void> store(ReviewWebhook& webhook, ReviewObserver observe, Result<Object>& out) {
    ReviewDecoder decode = [](std::string_view body) -> Result<Object> {
      if (body != "{}") return bad_request("rubbish");
      return Object();
    };
    auto posting = webhook.post("{\"a\":1}", std::move(decode), std::chrono::steady_clock::now() + 60s, std::move(observe));
    out = co_await std::move(posting);
  }
  Result<Object> post() {
    KubeconfigServer server;
    server.client.server = "https://h:1";
    server.path = "/authorize";
    server.headers = {{"Authorization", "Basic x"}};
    auto webhook = ReviewWebhook::make(host_, server, options_);
    EXPECT_TRUE(webhook.ok());
    Result<Object> out;
    ends_.clear();
    spawn_detached(host_.turns, store(
                                    **webhook, [this](const ReviewAttempt& each) { ends_.push_back(each.end); }, out));
    host_.turns.run_until_idle(/*timers=*/true);
    return out;
  }

  FakeHost host_;
  std::shared_ptr<ReviewServer> server_ = std::make_shared<ReviewServer>();
  ReviewWebhookOptions options_;
  ClientConfig config_;
  std::vector<End> ends_;
};

TEST_F(ReviewWebhookTest, ACallGoesToThePathWithTheTimeoutAndTheHeaders) {
  EXPECT_TRUE(post().ok());
  EXPECT_EQ(config_.server, "https://h:1");
  ASSERT_EQ(server_->calls.size(), 1u);
  EXPECT_EQ(server_->calls[0].method, "POST");
  EXPECT_EQ(server_->calls[0].target, "/authorize?timeout=30s");
  EXPECT_EQ(server_->calls[0].body, "{\"a\":1}");
  EXPECT_EQ(server_->calls[0].headers.front().second, "Basic x");
  EXPECT_EQ(ends_, (std::vector<End>{End::kSuccess}));
  options_.timeout = 2500ms;
  EXPECT_TRUE(post().ok());
  EXPECT_EQ(server_->calls[1].target, "/authorize?timeout=2.5s");
}

TEST_F(ReviewWebhookTest, WhatUpstreamRepeatsIsRepeatedUpToTheNumberOfAttempts) {
  server_->script = {{500}, {429}, {502}, {503, {{"Retry-After", "1"}}}, {200}};
  EXPECT_TRUE(post().ok());
  EXPECT_EQ(server_->calls.size(), 5u);
  server_->calls.clear();
  server_->script = {{500, {{"Content-Type", "text/plain"}}, "broken\n"}};
  EXPECT_EQ(post().status().message(), R"(an error on the server ("broken") has prevented the request from succeeding)");
  EXPECT_EQ(server_->calls.size(), 5u);
  server_->calls.clear();
  server_->script = {{0, {}, "", service_unavailable("read: connection reset by peer")}, {200}};
  EXPECT_TRUE(post().ok());
  EXPECT_EQ(ends_, (std::vector<End>{End::kError, End::kSuccess}));
}

TEST_F(ReviewWebhookTest, OtherErrorsAreFinal) {
  struct Case {
    ReviewLine line;
    std::string_view message;
    End end;
  };
  const Case cases[] = {
      {{503}, "the server is currently unable to handle the request", End::kError},
      {{404}, "the server could not find the requested resource", End::kError},
      {{302}, "the server responded with the status code 302 but did not return more information", End::kError},
      {{400, {}, R"({"kind":"Status","status":"Failure","message":"no"})"}, "no", End::kError},
      {{200, {}, "x"}, "rubbish", End::kError},
      {{0, {}, "", service_unavailable("refused")}, R"(Post "https://h:1/authorize?timeout=30s": refused)", End::kError},
      {{0, {}, "", Status(Reason::kTimeout, "late")}, R"(Post "https://h:1/authorize?timeout=30s": late)", End::kTimeout},
  };
  for (const Case& each : cases) {
    server_->script = {each.line};
    server_->calls.clear();
    EXPECT_EQ(post().status().message(), each.message);
    EXPECT_EQ(ends_, (std::vector<End>{each.end})) << each.message;
  }
}

}  // namespace
}  // namespace backplane::kit
