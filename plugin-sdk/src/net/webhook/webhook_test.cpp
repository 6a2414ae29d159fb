#include "backplane/net/webhook.hpp"

#include <gtest/gtest.h>

#include <deque>

#include "fake_host.hpp"

namespace backplane {
namespace {

using namespace std::chrono_literals;
using test::FakeHost;

class Answer final : public HttpAnswer {
 public:
  Answer(int code, Headers headers, std::string body) : code_(code), headers_(std::move(headers)), body_(std::move(body)) {}
  int code() const noexcept override { return code_; }
  const Headers& headers() const noexcept override { return headers_; }
  Task<Result<std::string>> read() override { co_return std::exchange(body_, std::string()); }
  void cancel() override {}

 private:
  const int code_;
  const Headers headers_;
  std::string body_;
};

struct Scripted {
  int code = 200;
  Headers headers;
  std::string problem;  // if it is not empty, the call fails with it
};

// Returns the responses of the script in their order, and then repeats the last one.
class Server final : public HttpClient {
 public:
  Task<Result<std::unique_ptr<HttpAnswer>>> call(HttpCall call) override {
    calls.push_back(std::move(call));
    const Scripted now = script.front();
    if (script.size() > 1) script.pop_front();
    if (!now.problem.empty()) co_return service_unavailable(now.problem);
    co_return std::unique_ptr<HttpAnswer>(std::make_unique<Answer>(now.code, now.headers, "{}"));
  }
  std::deque<Scripted> script = {{}};
  std::vector<HttpCall> calls;
};

class Services final : public ServiceResolver {
 public:
  Task<Result<std::string>> resolve(std::string ns, std::string name, int) override {
    if (name == "absent") co_return not_found("", "services", name);
    co_return ns + "-" + name + ":8443";
  }
};

// Does not return before `hold` is set.
class SlowServices final : public ServiceResolver {
 public:
  Task<Result<std::string>> resolve(std::string, std::string, int) override {
    auto waiting = hold.future();
    const bool over = co_await waiting;
    (void)over;
    co_return std::string("late:1");
  }
  const Promise<bool> hold;
};

Task<void> post_until(WebhookClient& client, std::chrono::steady_clock::time_point deadline, Result<WebhookAnswer>& out) {
  auto posting = client.post_until("{}", {}, deadline);
  out = co_await std::move(posting);
}

Task<void> post(WebhookClient& client, Result<WebhookAnswer>& out) {
  auto posting = client.post("{}");
  out = co_await std::move(posting);
}

class WebhookTest : public testing::Test {
 protected:
  WebhookTest() {
    host_.clients = [this](ClientConfig config) {
      configs_.push_back(std::move(config));
      return Result<std::shared_ptr<HttpClient>>(server_);
    };
  }
  Result<WebhookAnswer> call() {
    options_.on_attempt = [this](int code, std::chrono::nanoseconds) { codes_.push_back(code); };
    WebhookClient client(host_, std::make_shared<Services>(), target_, options_);
    Result<WebhookAnswer> out;
    spawn_detached(host_.turns, post(client, out));
    host_.turns.run_until_idle(/*timers=*/true);
    return out;
  }
  std::string sent_header(std::string_view name) const {
    for (const auto& [key, value] : server_->calls.back().headers) {
      if (key == name) return value;
    }
    return {};
  }

  FakeHost host_;
  std::shared_ptr<Server> server_ = std::make_shared<Server>();
  std::vector<ClientConfig> configs_;
  WebhookTarget target_;
  WebhookOptions options_;
  std::vector<int> codes_;
};

TEST_F(WebhookTest, AServiceIsCalledAtItsAddressByItsName) {
  target_.service = {"n", "hook", "convert", 443};
  options_.connection.certificate_authority = "PEM";
  const auto answer = call();
  ASSERT_TRUE(answer.ok()) << answer.status().message();
  EXPECT_EQ(answer->code, 200);
  EXPECT_EQ(answer->body, "{}");
  ASSERT_EQ(configs_.size(), 1u);
  EXPECT_EQ(configs_[0].server, "https://n-hook:8443");
  EXPECT_EQ(configs_[0].tls_server_name, "hook.n.svc");
  EXPECT_EQ(configs_[0].certificate_authority, "PEM");
  EXPECT_FALSE(configs_[0].http2) << "all calls would reach one of several servers";
  EXPECT_EQ(server_->calls[0].method, "POST");
  EXPECT_EQ(server_->calls[0].target, "/convert?timeout=30s");
  EXPECT_EQ(sent_header("Host"), "hook.n.svc:443");
  EXPECT_EQ(sent_header("Content-Type"), "application/json");
}

TEST_F(WebhookTest, AUrlIsCalledAsItIs) {
  target_.url = "https://example.com:8443/hook/x";
  options_.timeout = 90s;
  EXPECT_TRUE(call().ok());
  EXPECT_EQ(configs_[0].server, "https://example.com:8443");
  EXPECT_EQ(configs_[0].tls_server_name, "");
  EXPECT_EQ(server_->calls[0].target, "/hook/x?timeout=1m30s");
  EXPECT_EQ(sent_header("Host"), "");
  options_.send_timeout = false;
  target_.url = "https://localhost";
  EXPECT_TRUE(call().ok());
  EXPECT_EQ(server_->calls[1].target, "/");
  EXPECT_TRUE(configs_[1].http2);
}

// envtest configures "https://…//failing", to which Go's server responds with a redirect.
TEST_F(WebhookTest, ThePathIsCleanedAsClientGoCleansIt) {
  options_.send_timeout = false;
  const std::pair<const char*, const char*> kPaths[] = {{"//failing", "/failing"}, {"/a/./b/../c/", "/a/c"}, {"/", "/"}, {"/../x", "/x"}};
  for (const auto& [configured, requested] : kPaths) {
    target_.url = "https://example.com" + std::string(configured);
    EXPECT_TRUE(call().ok());
    EXPECT_EQ(server_->calls.back().target, requested) << configured;
  }
}

TEST_F(WebhookTest, AServiceThatIsNotThereIsAnErrorThatNamesTheUrl) {
  target_.service = {"n", "absent", "/p", 443};
  EXPECT_EQ(call().status().message(), R"(Post "https://absent.n.svc:443/p?timeout=30s": services "absent" not found)");
  EXPECT_EQ(codes_, (std::vector<int>{0}));
}

TEST_F(WebhookTest, WithoutRetriesTheFirstAnswerIsTheResult) {
  target_.url = "https://example.com/";
  server_->script = {{500, {}, ""}, {200, {}, ""}};
  EXPECT_EQ(call()->code, 500);
  EXPECT_EQ(codes_, (std::vector<int>{500}));
}

TEST_F(WebhookTest, AnAttemptIsRepeatedAfterWhatUpstreamRepeats) {
  target_.url = "https://example.com/";
  options_.retries.attempts = 6;
  server_->script = {
      {500, {}, ""}, {429, {}, ""}, {504, {}, ""}, {503, {{"Retry-After", "1"}}, ""}, {0, {}, "read: connection reset by peer"},
      {200, {}, ""}};
  EXPECT_EQ(call()->code, 200);
  EXPECT_EQ(codes_, (std::vector<int>{500, 429, 504, 503, 0, 200}));
}

TEST_F(WebhookTest, PausesGrowByTheirFactorAndVaryByTheirJitter) {
  target_.url = "https://example.com/";
  options_.retries.attempts = 5;
  server_->script = {{500, {}, ""}};
  EXPECT_EQ(call()->code, 500);
  EXPECT_EQ(codes_.size(), 5u);
  ASSERT_EQ(host_.turns.delays.size(), 4u);
  double pause = 500;
  for (const auto delay : host_.turns.delays) {
    const double got = std::chrono::duration<double, std::milli>(delay).count();
    EXPECT_GE(got, pause * 0.999);
    EXPECT_LE(got, pause * 1.2001);
    pause *= 1.5;
  }
}

TEST_F(WebhookTest, OtherErrorsAreNotRepeated) {
  target_.url = "https://example.com/";
  options_.retries.attempts = 3;
  for (const Scripted& each : {Scripted{400, {}, ""}, Scripted{503, {}, ""}, Scripted{0, {}, "connect: connection refused"}}) {
    server_->script = {each};
    codes_.clear();
    static_cast<void>(call());
    EXPECT_EQ(codes_.size(), 1u) << each.code << each.problem;
  }
}

TEST_F(WebhookTest, ALookUpOfTheServiceEndsWithTheCall) {
  target_.service = {"n", "hook", "/p", 443};
  const auto services = std::make_shared<SlowServices>();
  WebhookClient client(host_, services, target_, options_);
  Result<WebhookAnswer> out;
  spawn_detached(host_.turns, post(client, out));
  host_.turns.run_until_idle(/*timers=*/true);
  EXPECT_EQ(out.status().message(), R"(Post "https://hook.n.svc:443/p?timeout=30s": context deadline exceeded)");
  services->hold.set(true);
  host_.turns.run_until_idle();
  EXPECT_TRUE(server_->calls.empty());
}

TEST_F(WebhookTest, ACallUntilADeadlineSendsTheTimeThatIsLeft) {
  target_.url = "https://example.com/x";
  WebhookClient client(host_, nullptr, target_, options_);
  const auto deadline = std::chrono::steady_clock::now() + 4500ms;
  server_->script = {{500, {{"Retry-After", "7"}}, ""}};
  Result<WebhookAnswer> out;
  spawn_detached(host_.turns, post_until(client, deadline, out));
  host_.turns.run_until_idle(/*timers=*/true);
  ASSERT_TRUE(out.ok());
  EXPECT_EQ(out->code, 500);
  EXPECT_EQ(out->retry_after, "7");
  EXPECT_EQ(server_->calls.size(), 1u);
  EXPECT_EQ(server_->calls[0].target, "/x?timeout=5s");
  EXPECT_EQ(server_->calls[0].deadline, deadline);
}

TEST(WebhookUrl, ItsPartsAreTheServerThePathAndTheHost) {
  EXPECT_EQ(split_webhook_url("https://a.b:8443/x/y").server, "https://a.b:8443");
  EXPECT_EQ(split_webhook_url("https://a.b:8443/x/y").path, "/x/y");
  EXPECT_EQ(split_webhook_url("https://a.b").path, "");
  EXPECT_EQ(split_webhook_url("https://[::1]:1/").host, "[::1]");
  EXPECT_EQ(split_webhook_url("nothing").server, "");
}

}  // namespace
}  // namespace backplane
