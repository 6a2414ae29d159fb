#include "connections/commands.hpp"

#include <gtest/gtest.h>

#include "backplane/points/authentication.hpp"
#include "backplane/points/authorization.hpp"
#include "backplane/rest/connect.hpp"
#include "fake_host.hpp"

namespace backplane::core {
namespace {

// A request of which only the headers are used.
class PlainExchange final : public Exchange {
 public:
  std::string_view method() const noexcept override { return "GET"; }
  std::string_view target() const noexcept override { return "/"; }
  int http_major() const noexcept override { return 1; }
  std::string_view header(std::string_view) const noexcept override { return {}; }
  const Headers& headers() const noexcept override { return headers_; }
  std::string_view remote_address() const noexcept override { return "192.0.2.1:1"; }
  const PeerCertificate* peer_certificate() const noexcept override { return nullptr; }
  Task<Result<std::string>> read_body(std::size_t) override { co_return std::string(); }
  void add_response_header(std::string, std::string) override {}
  void set_response_header(std::string, std::string) override {}
  Task<void> respond(int, std::string_view, std::vector<SharedBytes>) override { co_return; }
  Task<Status> start(int, std::string_view) override { co_return Status(); }
  void set_compressible(bool) override {}
  Task<Status> write(std::vector<SharedBytes>) override { co_return Status(); }
  Task<void> finish() override { co_return; }
  bool started() const noexcept override { return false; }
  int response_code() const noexcept override { return 0; }
  std::uint64_t add_close_callback(std::function<void()>) override { return 1; }
  void remove_close_callback(std::uint64_t) noexcept override {}
  bool closed() const noexcept override { return false; }
  void close_connection_after() override {}
  void abort() override {}

 private:
  const Headers headers_{};
};

class FixedAuthorizer final : public Authorizer {
 public:
  std::string_view name() const noexcept override { return "gatekeeper"; }
  Task<AuthorizerResult> authorize(const AuthorizationAttributes& attributes) override {
    asked = attributes.verb + " " + attributes.resource + "/" + attributes.subresource + " " + attributes.name;
    co_return answer;
  }
  AuthorizerResult answer;
  std::string asked;
};

class PodCommands : public ::testing::Test {
 protected:
  PodCommands() {
    ResourceConfig config;
    config.kind = {"", "v1", "Pod"};
    config.resource = "pods";
    pods_ = std::make_shared<test::FakeStore>(std::move(config));
    context_.info.is_resource_request = true;
    context_.info.verb = "get";
    context_.info.ns = "n";
    context_.info.resource = "pods";
    context_.info.subresource = "exec";
    context_.info.name = "p";
  }

  std::string ask() {
    CommandOptions options;
    options.pods = pods_;
    options.authorizer = &authorizer_;
    options.authorize_create = gate_;
    const auto storage = make_pod_exec(options);
    turns_.start(note(dynamic_cast<OptionConnecter&>(*storage)));
    return outcome_;
  }

  Task<void> note(OptionConnecter& connecter) {
    Status status = co_await connecter.connect_with(context_, "p", Object(), exchange_);
    outcome_ = std::to_string(status.code()) + " " + status.message();
  }

  test::TurnExecutor turns_;
  std::shared_ptr<test::FakeStore> pods_;
  RequestContext context_;
  PlainExchange exchange_;
  FixedAuthorizer authorizer_;
  bool gate_ = true;
  std::string outcome_;
};

TEST_F(PodCommands, GetWithoutCreateIsRefused) {
  authorizer_.answer = {Decision::kNoOpinion, "no rule allows it", {}};
  EXPECT_EQ(ask(), "403 pods \"p\" is forbidden: no rule allows it");
  EXPECT_EQ(authorizer_.asked, "create pods/exec p");
}

TEST_F(PodCommands, CreateIsAllowed) {
  authorizer_.answer = {Decision::kAllow, "", {}};
  EXPECT_EQ(ask(), "404 pods \"p\" not found");
}

TEST_F(PodCommands, CreateIsAuthorizedOnce) {
  context_.info.verb = "create";
  EXPECT_EQ(ask(), "404 pods \"p\" not found");
  EXPECT_EQ(authorizer_.asked, "");
}

TEST_F(PodCommands, WithoutTheGateGetIsEnough) {
  gate_ = false;
  EXPECT_EQ(ask(), "404 pods \"p\" not found");
  EXPECT_EQ(authorizer_.asked, "");
}

TEST_F(PodCommands, AnAuthorizerThatFailsIsAnError) {
  authorizer_.answer = {Decision::kNoOpinion, "", internal_error("broken")};
  EXPECT_EQ(ask(), "500 Internal error occurred: broken");
}

}  // namespace
}  // namespace backplane::core
