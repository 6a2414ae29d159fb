#include <gtest/gtest.h>

#include "base/io_loop.hpp"
#include "security/authentication.hpp"
#include "security/authorization.hpp"
#include "security/users.hpp"
#include "security/x509.hpp"

namespace backplane {
namespace {

// The part of an exchange that authenticators look at.
class FakeExchange final : public Exchange {
 public:
  std::optional<PeerCertificate> certificate;
  bool rejected = false;
  Headers request_headers;

  std::string_view method() const noexcept override { return "GET"; }
  std::string_view target() const noexcept override { return "/"; }
  int http_major() const noexcept override { return 1; }
  std::string_view header(std::string_view name) const noexcept override {
    for (const auto& [key, value] : request_headers) {
      if (key == name) return value;
    }
    return {};
  }
  const Headers& headers() const noexcept override { return request_headers; }
  std::string_view remote_address() const noexcept override { return "127.0.0.1:1"; }
  const PeerCertificate* peer_certificate() const noexcept override { return certificate ? &*certificate : nullptr; }
  bool peer_certificate_rejected() const noexcept override { return rejected; }
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
  void on_close(std::function<void()>) override {}
  bool closed() const noexcept override { return false; }
  void close_connection_after() override {}
  void abort() override {}
};

class TokenAuthenticator final : public Authenticator {
 public:
  std::string_view name() const noexcept override { return "token"; }
  Task<Result<std::optional<UserInfo>>> authenticate(RequestContext&, Exchange& exchange) override {
    const auto value = exchange.header("authorization");
    if (value == "Bearer good") {
      UserInfo user;
      user.name = "jane";
      co_return std::optional<UserInfo>(user);
    }
    if (value == "Bearer expired") co_return unauthorized("expired");
    co_return std::optional<UserInfo>();
  }
};

class FixedAuthorizer final : public Authorizer {
 public:
  explicit FixedAuthorizer(AuthorizerResult result) : result_(std::move(result)) {}
  std::string_view name() const noexcept override { return "fixed"; }
  Task<AuthorizerResult> authorize(RequestContext&) override { co_return result_; }

 private:
  AuthorizerResult result_;
};

struct Security : ::testing::Test {
  Security() { loop.start(); }
  Result<UserInfo> ask(const UnionAuthentication& authentication) {
    if (auto known = authentication.authenticate_now(context, exchange)) return std::move(*known);
    return run_on(loop, authentication.authenticate(context, exchange));
  }
  AuthorizerResult ask(const Authorization& authorization) {
    if (auto known = authorization.authorize_now(context)) return *known;
    return run_on(loop, authorization.authorize(context));
  }
  IoLoop loop{"test"};
  FakeExchange exchange;
  RequestContext context;
};

TEST_F(Security, ACertificateBecomesItsCommonNameAndItsOrganizations) {
  exchange.certificate = PeerCertificate{"kubernetes-admin", {"system:masters", "ops"}, "ab12"};
  auto user = ask(UnionAuthentication({}));
  ASSERT_TRUE(user.ok());
  EXPECT_EQ(user->name, "kubernetes-admin");
  EXPECT_EQ(user->groups, (std::vector<std::string>{"system:masters", "ops", "system:authenticated"}));
  ASSERT_EQ(user->extra.size(), 1u);
  EXPECT_EQ(user->extra[0].first, "authentication.kubernetes.io/credential-id");
  EXPECT_EQ(user->extra[0].second, std::vector<std::string>{"X509SHA256=ab12"});
}

TEST_F(Security, ACertificateThatDidNotVerifyIsRefusedAndNotAnonymous) {
  exchange.rejected = true;
  auto user = ask(UnionAuthentication({}));
  ASSERT_FALSE(user.ok());
  EXPECT_EQ(user.status().code(), 401);
  EXPECT_EQ(user.status().message(), "Unauthorized");
}

TEST_F(Security, ACertificateWithoutACommonNameNamesNobody) {
  exchange.certificate = PeerCertificate{"", {"system:masters"}, ""};
  auto user = ask(UnionAuthentication({}));
  ASSERT_TRUE(user.ok());
  EXPECT_EQ(user->name, "system:anonymous") << "and in no group of the certificate";
  EXPECT_EQ(user->groups, std::vector<std::string>{"system:unauthenticated"});
  EXPECT_FALSE(ask(UnionAuthentication({false, {}})).ok());
}

TEST_F(Security, NoCredentialsAreAnonymousUnlessThatIsOff) {
  auto user = ask(UnionAuthentication({}));
  ASSERT_TRUE(user.ok());
  EXPECT_EQ(user->name, "system:anonymous");
  EXPECT_EQ(user->groups, std::vector<std::string>{"system:unauthenticated"});
  EXPECT_FALSE(ask(UnionAuthentication({false, {}})).ok());
}

TEST_F(Security, ATokenThatNobodyKnowsIsABadCredential) {
  exchange.request_headers = {{"authorization", "Bearer x"}};
  EXPECT_FALSE(ask(UnionAuthentication({})).ok());
  exchange.request_headers = {{"authorization", "Basic x"}};
  EXPECT_TRUE(ask(UnionAuthentication({})).ok());
}

TEST_F(Security, PluginsAreAskedAfterTheCertificateAndBeforeAnonymous) {
  UnionAuthentication authentication({true, {std::make_shared<TokenAuthenticator>()}});
  exchange.request_headers = {{"authorization", "Bearer good"}};
  auto user = ask(authentication);
  ASSERT_TRUE(user.ok());
  EXPECT_EQ(user->name, "jane");
  EXPECT_EQ(user->groups, std::vector<std::string>{"system:authenticated"});
  exchange.request_headers = {{"authorization", "Bearer expired"}};
  EXPECT_FALSE(ask(authentication).ok());
  exchange.request_headers = {};
  EXPECT_EQ(ask(authentication)->name, "system:anonymous");
  exchange.certificate = PeerCertificate{"cert-user", {}, ""};
  exchange.request_headers = {{"authorization", "Bearer good"}};
  EXPECT_EQ(ask(authentication)->name, "cert-user");
}

TEST_F(Security, TheSuperuserIsNeverAskedAbout) {
  context.user = loopback_user();
  Authorization authorization({{std::make_shared<FixedAuthorizer>(AuthorizerResult{Decision::kDeny, "no"})}, AuthorizationFallback::kDeny});
  EXPECT_EQ(ask(authorization).decision, Decision::kAllow);
}

TEST_F(Security, EverybodyMayReadHealthAndVersionAndNothingElse) {
  context.user = anonymous_user();
  Authorization authorization({});
  context.info.verb = "get";
  for (const char* path : {"/healthz", "/livez", "/readyz", "/version", "/version/"}) {
    context.info.path = path;
    EXPECT_EQ(ask(authorization).decision, Decision::kAllow) << path;
  }
  for (const char* path : {"/healthz/etcd", "/metrics", "/api", "/"}) {
    context.info.path = path;
    EXPECT_EQ(ask(authorization).decision, Decision::kNoOpinion) << path;
  }
  context.info.path = "/healthz";
  context.info.verb = "post";
  EXPECT_EQ(ask(authorization).decision, Decision::kNoOpinion);
}

TEST_F(Security, TheFirstOpinionWinsAndReasonsOfTheSilentAreKept) {
  context.user.name = "jane";
  context.info.path = "/x";
  context.info.verb = "get";
  const auto authorizer = [](Decision decision, const char* reason) {
    return std::make_shared<FixedAuthorizer>(AuthorizerResult{decision, reason});
  };
  EXPECT_EQ(ask(Authorization({{authorizer(Decision::kNoOpinion, "a"), authorizer(Decision::kAllow, "b")}, {}})).decision,
            Decision::kAllow);
  EXPECT_EQ(ask(Authorization({{authorizer(Decision::kDeny, "a"), authorizer(Decision::kAllow, "b")}, {}})).decision, Decision::kDeny);
  auto silent = ask(Authorization({{authorizer(Decision::kNoOpinion, "a"), authorizer(Decision::kNoOpinion, "b")}, {}}));
  EXPECT_EQ(silent.decision, Decision::kNoOpinion);
  EXPECT_EQ(silent.reason, "a\nb");
}

TEST_F(Security, ARefusalSaysWhoWantedWhatWhere) {
  context.user.name = "jane";
  context.info = {};
  context.info.verb = "get";
  context.info.path = "/metrics";
  EXPECT_EQ(forbidden_request(context, "").to_json(),
            "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\",\"message\":\"forbidden: User \\\"jane\\\" "
            "cannot get path "
            "\\\"/metrics\\\"\",\"reason\":\"Forbidden\",\"details\":{},\"code\":403}\n");
  context.info.is_resource_request = true;
  context.info.api_group = "apps";
  context.info.resource = "deployments";
  context.info.subresource = "scale";
  context.info.ns = "s-rbac";
  context.info.name = "d";
  EXPECT_EQ(
      forbidden_request(context, "").to_json(),
      "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\",\"message\":\"deployments.apps \\\"d\\\" is "
      "forbidden: User "
      "\\\"jane\\\" cannot get resource \\\"deployments/scale\\\" in API group \\\"apps\\\" in the namespace "
      "\\\"s-rbac\\\"\",\"reason\":\"Forbidden\",\"details\":{\"name\":\"d\",\"group\":\"apps\",\"kind\":\"deployments\"},\"code\":403}\n");
  context.info = {};
  context.info.is_resource_request = true;
  context.info.verb = "list";
  context.info.resource = "nodes";
  EXPECT_EQ(forbidden_request(context, "").message(),
            "nodes is forbidden: User \"jane\" cannot list resource \"nodes\" in API group \"\" at the cluster scope");
  EXPECT_EQ(forbidden_request(context, "no rule").message(),
            "nodes is forbidden: User \"jane\" cannot list resource \"nodes\" in API group \"\" at the cluster scope: no rule");
}

}  // namespace
}  // namespace backplane
