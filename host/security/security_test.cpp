#include <gtest/gtest.h>

#include <chrono>

#include "backplane/core/metrics.hpp"
#include "base/front_proxy.hpp"
#include "base/io_loop.hpp"
#include "security/authentication.hpp"
#include "security/authorization.hpp"
#include "security/published_security.hpp"
#include "security/users.hpp"

namespace backplane {
namespace {

// The part of an exchange that authenticators use.
class FakeExchange final : public Exchange, public FrontProxyPeer {
 public:
  std::optional<PeerCertificate> certificate;
  std::optional<PeerCertificate> proxy;
  const PeerCertificate* front_proxy_certificate() const noexcept override { return proxy ? &*proxy : nullptr; }
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
  std::uint64_t add_close_callback(std::function<void()>) override { return 1; }
  void remove_close_callback(std::uint64_t) noexcept override {}
  bool closed() const noexcept override { return false; }
  void close_connection_after() override {}
  void abort() override {}
};

class KnownToken final : public Authenticator {
 public:
  std::string_view name() const noexcept override { return "token"; }
  Task<AuthenticationResult> authenticate(RequestContext&, Exchange& exchange) override {
    const auto value = exchange.header("authorization");
    if (value == "Bearer good") {
      UserInfo user;
      user.name = "jane";
      co_return AuthenticationResponse{std::move(user)};
    }
    if (value == "Bearer expired") co_return unauthorized("expired");
    if (value == "Bearer strange") throw std::runtime_error("no such token");
    co_return std::nullopt;
  }
};

class NamedToken final : public TokenAuthenticator {
 public:
  explicit NamedToken(std::string user) : user_(std::move(user)) {}
  std::string_view name() const noexcept override { return "named"; }
  Task<AuthenticationResult> authenticate_token(std::string, std::vector<std::string>) override {
    AuthenticationResponse response;
    response.user.name = user_;
    co_return response;
  }

 private:
  const std::string user_;
};

class BrokenRules final : public Authorizer, public RuleResolver {
 public:
  std::string_view name() const noexcept override { return "broken"; }
  std::optional<AuthorizerResult> decide_now(const RequestView&) const override { return AuthorizerResult{}; }
  RuleResolver* rule_resolver() noexcept override { return this; }
  Task<RuleList> rules_for(UserInfo, std::string) override { throw std::runtime_error("no rules"); }
};

class FixedAuthorizer final : public Authorizer {
 public:
  explicit FixedAuthorizer(AuthorizerResult result) : result_(std::move(result)) {}
  std::string_view name() const noexcept override { return "fixed"; }
  Task<AuthorizerResult> authorize(const AuthorizationAttributes&) override { co_return result_; }

 private:
  AuthorizerResult result_;
};

struct Security : ::testing::Test {
  Security() { loop.start(); }
  Result<UserInfo> ask(const UnionAuthentication& authentication) {
    auto known = authentication.authenticate_now(context, exchange);
    auto user = known ? std::move(*known) : run_on(loop, authentication.authenticate(context, exchange));
    if (!user.ok()) return std::move(user.status());
    return UserInfo(**user);
  }
  AuthorizerResult ask(Authorization&& authorization) { return ask(authorization); }
  AuthorizerResult ask(Authorization& authorization) {
    if (auto known = authorization.decide_now(RequestView(context))) return *known;
    return run_on(loop, authorization.authorize(authorization_attributes(context)));
  }
  std::string refusal(std::string_view reason) { return forbidden_request(authorization_attributes(context), reason).to_json(); }
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

TEST_F(Security, EveryCertificateNamesItsOwnBearerHoweverManyThereAre) {
  const UnionAuthentication union_of({});
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 300; ++i) {
      const std::string name = "user-" + std::to_string(i);
      exchange.certificate = PeerCertificate{name, {"group-" + std::to_string(i)}, std::to_string(i) + "f"};
      auto user = union_of.authenticate_now(context, exchange);
      ASSERT_TRUE(user && user->ok());
      EXPECT_EQ((**user)->name, name);
      EXPECT_EQ((**user)->groups, (std::vector<std::string>{"group-" + std::to_string(i), "system:authenticated"}));
    }
  }
  // A certificate without a fingerprint is not cached.
  for (const char* name : {"a", "b"}) {
    exchange.certificate = PeerCertificate{name, {}, ""};
    EXPECT_EQ((**union_of.authenticate_now(context, exchange))->name, name);
  }
}

TEST_F(Security, APluginCannotAuthenticateTheServersOwnName) {
  exchange.request_headers = {{"authorization", "Bearer x"}};
  for (const auto& [name, known] : {std::pair("system:apiserver", false), {"system:node:a", true}, {"jane", true}}) {
    const std::vector<std::shared_ptr<Authenticator>> plugins = {std::make_shared<NamedToken>(name)};
    AuthenticationConfig config;
    config.plugins = plugins;
    EXPECT_EQ(ask(UnionAuthentication(config)).ok(), known) << name;
    UnionTokenAuthentication tokens(plugins);
    EXPECT_EQ(run_on(loop, tokens.authenticate_token("x", {})).ok(), known) << name;
  }
  // A certificate may set this user name, and so may the headers of a front proxy.
  exchange.certificate = PeerCertificate{"system:apiserver", {}, ""};
  EXPECT_TRUE(ask(UnionAuthentication({})).ok());
}

TEST_F(Security, ACredentialForOtherAudiencesThanTheServersIsRefused) {
  class ForAudiences final : public Authenticator {
   public:
    std::string_view name() const noexcept override { return "audiences"; }
    std::optional<AuthenticationResult> authenticate_now(RequestContext&, const Exchange& exchange) override {
      AuthenticationResponse response;
      response.user.name = "jane";
      response.audiences = {std::string(exchange.header("x-audience"))};
      return AuthenticationResult(std::optional(std::move(response)));
    }
    Task<AuthenticationResult> authenticate(RequestContext&, Exchange&) override { co_return std::nullopt; }
  };
  AuthenticationConfig config;
  config.plugins = {std::make_shared<ForAudiences>()};
  config.api_audiences = {"https://one", "https://two"};
  const UnionAuthentication authentication(config);
  exchange.request_headers = {{"x-audience", "https://two"}};
  EXPECT_TRUE(ask(authentication).ok());
  exchange.request_headers = {{"x-audience", "vault"}};
  EXPECT_EQ(ask(authentication).status().code(), 401);
}

class ThrowsOnOtherExecutor final : public Authenticator, public Authorizer, public RuleResolver {
 public:
  explicit ThrowsOnOtherExecutor(Executor& executor) : executor_(executor) {}
  std::string_view name() const noexcept override { return "elsewhere"; }
  Task<AuthenticationResult> authenticate(RequestContext&, Exchange&) override {
    co_await resume_on(executor_);
    throw std::runtime_error("no key set");
  }
  Task<AuthorizerResult> authorize(const AuthorizationAttributes&) override {
    co_await resume_on(executor_);
    throw std::runtime_error("no policy");
  }
  RuleResolver* rule_resolver() noexcept override { return this; }
  Task<RuleList> rules_for(UserInfo, std::string) override {
    co_await resume_on(executor_);
    throw std::runtime_error("no rules");
  }

 private:
  Executor& executor_;
};

// After authentication and authorization, the caller uses the request's deadline and exchange, so both must resume on the request's
// executor.
Task<std::vector<Executor*>> executors_after(const UnionAuthentication& authentication, Authorization& authorization,
                                             RequestContext& context, Exchange& exchange) {
  std::vector<Executor*> after;
  const auto user = co_await authentication.authenticate(context, exchange);
  EXPECT_EQ(user.status().code(), 401);
  after.push_back(current_executor());
  const AuthorizationAttributes wanted = authorization_attributes(context);
  const AuthorizerResult result = co_await authorization.authorize(wanted);
  EXPECT_EQ(result.decision, Decision::kNoOpinion);
  EXPECT_EQ(result.error.message(), "authorizer elsewhere threw: no policy");
  after.push_back(current_executor());
  const RuleList rules = co_await authorization.rules_for(UserInfo(), "n");
  EXPECT_TRUE(rules.incomplete);
  after.push_back(current_executor());
  co_return after;
}

TEST_F(Security, PluginsThatThrowOnAnotherExecutorLeaveTheRequestOnItsOwn) {
  IoLoop foreign("foreign");
  foreign.start();
  const auto plugin = std::make_shared<ThrowsOnOtherExecutor>(foreign);
  AuthenticationConfig config;
  config.plugins = {plugin};
  const UnionAuthentication authentication(config);
  Authorization authorization({plugin});
  EXPECT_EQ(run_on(loop, executors_after(authentication, authorization, context, exchange)), (std::vector<Executor*>{&loop, &loop, &loop}));
  foreign.stop();
}

TEST_F(Security, RulesThatCannotBeListedDoNotHideOthers) {
  Authorization authorization({std::make_shared<BrokenRules>(), make_always_allow()});
  const RuleList rules = run_on(loop, authorization.rules_for(UserInfo(), "n"));
  EXPECT_TRUE(rules.incomplete);
  EXPECT_FALSE(rules.error.ok());
  EXPECT_EQ(rules.resource_rules.size(), 1u);
}

TEST_F(Security, ACertificateThatDidNotVerifyIsRefusedAndNotAnonymous) {
  exchange.rejected = true;
  auto user = ask(UnionAuthentication({}));
  ASSERT_FALSE(user.ok());
  EXPECT_EQ(user.status().code(), 401);
  EXPECT_EQ(user.status().message(), "Unauthorized");
}

TEST_F(Security, ACertificateWithoutACommonNameHasNoUser) {
  exchange.certificate = PeerCertificate{"", {"system:masters"}, ""};
  auto user = ask(UnionAuthentication({}));
  ASSERT_TRUE(user.ok());
  EXPECT_EQ(user->name, "system:anonymous") << "and in no group of the certificate";
  EXPECT_EQ(user->groups, std::vector<std::string>{"system:unauthenticated"});
  EXPECT_FALSE(ask(UnionAuthentication({false, {}})).ok());
}

// The anonymous authenticator of a configuration file belongs to a plugin.
class AnonymousPlugin final : public Authenticator {
 public:
  std::string_view name() const noexcept override { return "anonymous"; }
  std::optional<AuthenticationResult> authenticate_now(RequestContext&, const Exchange&) override {
    return AuthenticationResult(std::optional<AuthenticationResponse>(AuthenticationResponse{anonymous_user()}));
  }
  Task<AuthenticationResult> authenticate(RequestContext& context, Exchange& exchange) override {
    co_return *authenticate_now(context, exchange);
  }
};

TEST_F(Security, ABadCredentialIsNotAnonymousForAPluginEither) {
  const UnionAuthentication authentication({true, {std::make_shared<KnownToken>(), std::make_shared<AnonymousPlugin>()}});
  EXPECT_EQ(ask(authentication)->name, "system:anonymous");
  exchange.rejected = true;
  EXPECT_EQ(ask(authentication).status().code(), 401);
  exchange.rejected = false;
  exchange.request_headers = {{"authorization", "Bearer expired"}};
  EXPECT_EQ(ask(authentication).status().code(), 401);
  const UnionAuthentication alone({true, {std::make_shared<AnonymousPlugin>()}});
  exchange.request_headers = {};
  exchange.rejected = true;
  EXPECT_EQ(ask(alone).status().code(), 401) << "without waiting";
}

class AcceptsAnyCredential final : public Authenticator {
 public:
  std::string_view name() const noexcept override { return "by-address"; }
  Task<AuthenticationResult> authenticate(RequestContext&, Exchange&) override {
    co_return std::optional<AuthenticationResponse>(AuthenticationResponse{UserInfo{"jane", "", {}, {}}});
  }
};

TEST_F(Security, AnonymousIsAskedLastWhateverItsPlace) {
  const auto anonymous = std::make_shared<AnonymousPlugin>();
  EXPECT_EQ(ask(UnionAuthentication({true, {anonymous, std::make_shared<AcceptsAnyCredential>()}}))->name, "jane");
  EXPECT_EQ(ask(UnionAuthentication({true, {anonymous, std::make_shared<KnownToken>()}}))->name, "system:anonymous");
}

TEST_F(Security, NoCredentialsAreAnonymousUnlessThatIsOff) {
  auto user = ask(UnionAuthentication({}));
  ASSERT_TRUE(user.ok());
  EXPECT_EQ(user->name, "system:anonymous");
  EXPECT_EQ(user->groups, std::vector<std::string>{"system:unauthenticated"});
  EXPECT_FALSE(ask(UnionAuthentication({false, {}})).ok());
}

AuthenticationConfig with_front_proxies() {
  AuthenticationConfig config;
  config.request_header.client_ca_file = "front.crt";
  config.request_header.allowed_names = {"front-proxy"};
  config.request_header.username_headers = {"X-Remote-User", "X-Other-User"};
  config.request_header.uid_headers = {"X-Remote-Uid"};
  config.request_header.group_headers = {"X-Remote-Group"};
  config.request_header.extra_prefixes = {"X-Remote-Extra-"};
  return config;
}

TEST_F(Security, AFrontProxySetsTheUser) {
  exchange.rejected = true;  // the certificate is not valid for client authentication
  exchange.proxy = PeerCertificate{"front-proxy", {}, ""};
  exchange.request_headers = {{"X-Other-User", "jane"}, {"X-Remote-Uid", "u"},           {"X-Remote-Group", "a"},
                              {"x-remote-group", "b"},  {"X-Remote-Group", ""},          {"X-Remote-Extra-Example.com%2fScopes", "s1"},
                              {"X-Other", "c"},         {"X-Remote-Extra-Bad%zz", "s3"}, {"X-Remote-Extra-Example.com%2fscopes", "s2"}};
  auto user = ask(UnionAuthentication(with_front_proxies()));
  ASSERT_TRUE(user.ok());
  EXPECT_EQ(user->name, "jane");
  EXPECT_EQ(user->uid, "u");
  EXPECT_EQ(user->groups, (std::vector<std::string>{"a", "b", "system:authenticated"}));
  ASSERT_EQ(user->extra.size(), 2u);
  EXPECT_EQ(user->extra[0].first, "example.com/scopes");
  EXPECT_EQ(user->extra[0].second, (std::vector<std::string>{"s1", "s2"}));
  EXPECT_EQ(user->extra[1].first, "bad%zz");
}

TEST_F(Security, FrontProxyHeadersOfOtherClientsAreIgnored) {
  exchange.request_headers = {{"X-Remote-User", "admin"}, {"X-Remote-Group", "system:masters"}};
  EXPECT_EQ(ask(UnionAuthentication(with_front_proxies()))->name, "system:anonymous");
  exchange.certificate = PeerCertificate{"jane", {}, ""};
  EXPECT_EQ(ask(UnionAuthentication(with_front_proxies()))->name, "jane");
  exchange.proxy = PeerCertificate{"another", {}, ""};
  EXPECT_EQ(ask(UnionAuthentication(with_front_proxies()))->name, "jane") << "a name that is not allowed";
  exchange.certificate.reset();
  EXPECT_FALSE(ask(UnionAuthentication(with_front_proxies())).ok());
  exchange.proxy->common_name = "front-proxy";
  EXPECT_EQ(ask(UnionAuthentication({}))->name, "system:anonymous") << "no front proxy is known";
}

TEST_F(Security, ACertificateWithoutANameIsNoFrontProxysCredential) {
  exchange.certificate = PeerCertificate{"", {"dev"}, ""};
  EXPECT_EQ(ask(UnionAuthentication({}))->name, "system:anonymous");
  EXPECT_EQ(ask(UnionAuthentication(with_front_proxies())).status().code(), 401);
  exchange.proxy = PeerCertificate{"front-proxy", {}, ""};
  EXPECT_EQ(ask(UnionAuthentication(with_front_proxies()))->name, "system:anonymous") << "one authority of both";
}

TEST_F(Security, TheTimeThatCertificatesAreValidIsCounted) {
  exchange.certificate = PeerCertificate{"jane", {}, ""};
  exchange.certificate->not_after = std::chrono::system_clock::now() + std::chrono::hours(3);
  const auto counted = [] {
    for (const auto& metric : Metric::all()) {
      if (metric.name == "apiserver_client_certificate_expiration_seconds") return metric.series.begin()->second;
    }
    return Metric::Series();
  };
  ASSERT_TRUE(ask(UnionAuthentication({})).ok());
  const Metric::Series before = counted();
  ASSERT_TRUE(ask(UnionAuthentication({})).ok());
  const Metric::Series after = counted();
  EXPECT_EQ(after.count, before.count + 1);
  EXPECT_EQ(after.buckets[4], before.buckets[4] + 1) << "between two and six hours";
}

TEST_F(Security, AFrontProxyWithoutAUserHeaderIsTheUserOfItsCertificate) {
  exchange.proxy = PeerCertificate{"front-proxy", {}, ""};
  exchange.rejected = true;
  EXPECT_FALSE(ask(UnionAuthentication(with_front_proxies())).ok());
}

TEST_F(Security, ACertificateMayNameTheUidOfItsUser) {
  AuthenticationConfig without_uids;
  without_uids.certificate_uids = false;
  exchange.certificate = PeerCertificate{"jane", {}, "ab", {"u-1"}};
  EXPECT_EQ(ask(UnionAuthentication({}))->uid, "u-1");
  EXPECT_EQ(ask(UnionAuthentication(without_uids))->uid, "");
  EXPECT_EQ(ask(UnionAuthentication({}))->uid, "u-1") << "what is known of a certificate depends on the gate";
  for (const auto& ids : {std::vector<std::string>{""}, std::vector<std::string>{"u-1", "u-2"}}) {
    exchange.certificate = PeerCertificate{"jane", {}, "cd", ids};
    EXPECT_FALSE(ask(UnionAuthentication({})).ok());
    EXPECT_EQ(ask(UnionAuthentication(without_uids))->name, "jane");
  }
}

TEST_F(Security, AnUnknownTokenIsABadCredential) {
  exchange.request_headers = {{"authorization", "Bearer x"}};
  EXPECT_FALSE(ask(UnionAuthentication({})).ok());
  exchange.request_headers = {{"authorization", "Basic x"}};
  EXPECT_TRUE(ask(UnionAuthentication({})).ok());
}

TEST_F(Security, PluginsAreAskedAfterTheCertificateAndBeforeAnonymous) {
  UnionAuthentication authentication({true, {std::make_shared<KnownToken>()}});
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

TEST_F(Security, AnAuthenticatorThatThrowsRefusesItsCredentialAlone) {
  UnionAuthentication authentication({true, {std::make_shared<KnownToken>()}});
  exchange.request_headers = {{"authorization", "Bearer strange"}};
  auto user = ask(authentication);
  ASSERT_FALSE(user.ok());
  EXPECT_EQ(user.status().code(), 401);
}

TEST_F(Security, TheSuperuserIsNeverAskedAbout) {
  context.user = loopback_user();
  Authorization authorization({std::make_shared<FixedAuthorizer>(AuthorizerResult{Decision::kDeny, "no", {}})});
  EXPECT_EQ(ask(authorization).decision, Decision::kAllow);
}

TEST_F(Security, AllClientsMayReadOnlyHealthAndVersion) {
  context.user = anonymous_user();
  Authorization authorization({make_public_info()});
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

TEST_F(Security, AUserWithoutGroupsMayNotReadTheVersion) {
  const auto review = [&](std::vector<std::string> groups) {
    const auto authorizer = make_public_info();
    AuthorizationAttributes wanted;
    wanted.user = UserInfo{"alice", "", std::move(groups), {}};
    wanted.verb = "get";
    wanted.path = "/version";
    return run_on(loop, authorizer->authorize(wanted)).decision;
  };
  EXPECT_EQ(review({}), Decision::kNoOpinion);
  EXPECT_EQ(review({"system:authenticated"}), Decision::kAllow);
  EXPECT_EQ(review({"system:unauthenticated"}), Decision::kAllow);
}

TEST_F(Security, TheFirstDecisionWinsAndReasonsOfNoOpinionsAreKept) {
  context.user = UserInfo{"jane", "", {}, {}};
  context.info.path = "/x";
  context.info.verb = "get";
  const auto authorizer = [](Decision decision, const char* reason) {
    return std::make_shared<FixedAuthorizer>(AuthorizerResult{decision, reason, {}});
  };
  EXPECT_EQ(ask(Authorization({authorizer(Decision::kNoOpinion, "a"), authorizer(Decision::kAllow, "b")})).decision, Decision::kAllow);
  EXPECT_EQ(ask(Authorization({authorizer(Decision::kDeny, "a"), authorizer(Decision::kAllow, "b")})).decision, Decision::kDeny);
  auto silent = ask(Authorization({authorizer(Decision::kNoOpinion, "a"), authorizer(Decision::kNoOpinion, "b")}));
  EXPECT_EQ(silent.decision, Decision::kNoOpinion);
  EXPECT_EQ(silent.reason, "a\nb");
}

TEST_F(Security, ARefusalNamesUserVerbAndResource) {
  context.user = UserInfo{"jane", "", {}, {}};
  context.info = {};
  context.info.verb = "get";
  context.info.path = "/metrics";
  EXPECT_EQ(refusal(""),
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
      refusal(""),
      "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\",\"message\":\"deployments.apps \\\"d\\\" is "
      "forbidden: User "
      "\\\"jane\\\" cannot get resource \\\"deployments/scale\\\" in API group \\\"apps\\\" in the namespace "
      "\\\"s-rbac\\\"\",\"reason\":\"Forbidden\",\"details\":{\"name\":\"d\",\"group\":\"apps\",\"kind\":\"deployments\"},\"code\":403}\n");
  context.info = {};
  context.info.is_resource_request = true;
  context.info.verb = "list";
  context.info.resource = "nodes";
  EXPECT_EQ(forbidden_request(authorization_attributes(context), "").message(),
            "nodes is forbidden: User \"jane\" cannot list resource \"nodes\" in API group \"\" at the cluster scope");
  EXPECT_EQ(forbidden_request(authorization_attributes(context), "no rule").message(),
            "nodes is forbidden: User \"jane\" cannot list resource \"nodes\" in API group \"\" at the cluster scope: no rule");
}

// ---- authorization for plugins

class ThrowingAuthorizer final : public Authorizer {
 public:
  std::string_view name() const noexcept override { return "fragile"; }
  Task<AuthorizerResult> authorize(const AuthorizationAttributes&) override {
    throw std::runtime_error("boom");
    co_return AuthorizerResult();
  }
};

class Recorder final : public Authorizer {
 public:
  explicit Recorder(std::string name = "recorder") : name_(std::move(name)) {}
  std::string_view name() const noexcept override { return name_; }
  Task<AuthorizerResult> authorize(const AuthorizationAttributes& attributes) override {
    seen = attributes;
    co_return AuthorizerResult();
  }
  AuthorizationAttributes seen;

 private:
  std::string name_;
};

TEST_F(Security, AttributesCarryTheSelectorsAndWhyOneCannotBeRead) {
  context.user = UserInfo{"jane", "", {}, {}};
  context.info.is_resource_request = true;
  context.info.verb = "list";
  context.info.resource = "pods";
  context.info.api_version = "v1";
  context.info.field_selector = "spec.nodeName=n1,metadata.name!=x";
  context.info.label_selector = "app in (";
  auto recorder = std::make_shared<Recorder>();
  ask(Authorization({recorder}));
  ASSERT_EQ(recorder->seen.fields.requirements().size(), 2u);
  EXPECT_EQ(recorder->seen.fields.requirements()[1].field, "spec.nodeName");
  EXPECT_TRUE(recorder->seen.fields_error.ok());
  EXPECT_TRUE(recorder->seen.labels.empty());
  EXPECT_FALSE(recorder->seen.labels_error.ok());
  EXPECT_EQ(recorder->seen.user->name, "jane");
  EXPECT_EQ(recorder->seen.api_version, "v1");
}

TEST_F(Security, AnAuthorizerThatThrowsHasNoOpinionAndAnError) {
  context.user = UserInfo{"jane", "", {}, {}};
  auto result = ask(Authorization({std::make_shared<ThrowingAuthorizer>()}));
  EXPECT_EQ(result.decision, Decision::kNoOpinion);
  EXPECT_EQ(result.error.message(), "authorizer fragile threw: boom");
  EXPECT_EQ(ask(Authorization({std::make_shared<ThrowingAuthorizer>(), make_always_allow()})).decision, Decision::kAllow);
}

// Decides without waiting if `now` is true. Counts its calls.
class Counted final : public Authorizer {
 public:
  Counted(bool now, AuthorizerResult result) : now_(now), result_(std::move(result)) {}
  std::string_view name() const noexcept override { return "counted"; }
  std::optional<AuthorizerResult> decide_now(const RequestView&) const override {
    ++calls_now;
    if (!now_) return std::nullopt;
    return result_;
  }
  Task<AuthorizerResult> authorize(const AuthorizationAttributes&) override {
    ++asked;
    co_return result_;
  }
  mutable int calls_now = 0;
  int asked = 0;

 private:
  const bool now_;
  const AuthorizerResult result_;
};

TEST_F(Security, EachAuthorizerIsAskedOnceForARequestThatWaits) {
  const AuthorizerResult none{Decision::kNoOpinion, "r", Status(Reason::kInternalError, "e")};
  auto first = std::make_shared<Counted>(true, none), second = std::make_shared<Counted>(false, none);
  auto third = std::make_shared<Counted>(true, AuthorizerResult{Decision::kNoOpinion, "other", {}});
  auto fourth = std::make_shared<Counted>(false, AuthorizerResult{Decision::kDeny, "last", {}});
  context.user = UserInfo{"jane", "", {}, {}};
  const auto attributes = authorization_attributes(context);
  PublishedAuthorizer published;
  const auto finish_after = [&](std::vector<std::shared_ptr<Authorizer>> authorizers) {
    published.publish(std::make_shared<Authorization>(authorizers));
    std::shared_ptr<PendingAuthorization> pending;
    EXPECT_FALSE(published.begin(RequestView(context), pending));
    published.publish(std::make_shared<Authorization>(std::vector<std::shared_ptr<Authorizer>>{make_always_allow()}));
    return run_on(loop, published.finish(attributes, std::move(pending)));
  };
  auto refused = finish_after({first, second, third});
  EXPECT_EQ(refused.decision, Decision::kNoOpinion) << "the order that the request began with";
  EXPECT_EQ(refused.reason, "r\nr\nother");
  EXPECT_EQ(refused.error.message(), "e") << "equal errors once";
  EXPECT_EQ(finish_after({first, second, third, fourth}).reason, "last");
  for (const auto& each : {first, second, third}) EXPECT_EQ(each->calls_now, 2);
  EXPECT_EQ(second->asked, 2);
  EXPECT_EQ(first->asked + third->asked, 0);
  EXPECT_EQ(fourth->calls_now, 1);
  EXPECT_EQ(fourth->asked, 1);
}

TEST_F(Security, TheWebhookOfTheModeHasUpstreamsName) {
  const auto places = places_of_modes({"Node", "Webhook"});
  EXPECT_EQ(places[0].name, "node");
  EXPECT_EQ(places[1].name, "default");
}

TEST_F(Security, AlwaysDenyIsEverythingForbiddenAndNothingPublic) {
  context.user = anonymous_user();
  context.info.verb = "get";
  context.info.path = "/version";
  auto result = ask(Authorization(plan_authorization(places_of_modes({"AlwaysDeny"}), {}).places));
  EXPECT_EQ(result.decision, Decision::kNoOpinion);
  EXPECT_EQ(result.reason, "Everything is forbidden.");
}

TEST_F(Security, ModesAreTakenInOrderFromTheirPlugins) {
  const auto names = [](const AuthorizationPlan& plan) {
    std::vector<std::string> out;
    for (const auto& each : plan.places) out.emplace_back(each.authorizer->name());
    return out;
  };
  const std::vector<std::shared_ptr<Authorizer>> registered = {std::make_shared<Recorder>("RBAC"), std::make_shared<Recorder>("own"),
                                                               std::make_shared<Recorder>("Node")};
  EXPECT_EQ(names(plan_authorization({}, registered)), (std::vector<std::string>{"own", "Node", "RBAC"}));
  EXPECT_EQ(names(plan_authorization(places_of_modes({"Node", "RBAC"}), registered)), (std::vector<std::string>{"own", "Node", "RBAC"}));
  auto plan = plan_authorization(places_of_modes({"Webhook", "AlwaysAllow"}), registered);
  EXPECT_EQ(names(plan), (std::vector<std::string>{"own", "AlwaysAllow"}));
  EXPECT_EQ(plan.not_offered, std::vector<std::string>{"Webhook"});
}

TEST_F(Security, RulesOfAllAuthorizersAreOneListWithItsErrors) {
  Authorization all({make_public_info(), make_always_allow()});
  auto rules = run_on(loop, all.rules_for(anonymous_user(), "x"));
  EXPECT_EQ(rules.resource_rules.size(), 1u);
  ASSERT_EQ(rules.non_resource_rules.size(), 2u);
  EXPECT_EQ(rules.non_resource_rules[0].paths.size(), 5u);
  EXPECT_FALSE(rules.incomplete);
  Authorization some({std::make_shared<Recorder>(), make_public_info()});
  EXPECT_TRUE(run_on(loop, some.rules_for(anonymous_user(), "x")).incomplete);
  EXPECT_EQ(run_on(loop, some.rules_for(loopback_user(), "x")).resource_rules.size(), 1u) << "the superuser's";
}

class Tokens final : public TokenAuthenticator {
 public:
  std::string_view name() const noexcept override { return "tokens"; }
  Task<AuthenticationResult> authenticate_token(std::string token, std::vector<std::string> audiences) override {
    if (token == "expired") co_return unauthorized("expired");
    if (token != "good") co_return std::optional<AuthenticationResponse>();
    AuthenticationResponse known;
    known.user.name = "jane";
    known.audiences = std::move(audiences);
    co_return std::optional<AuthenticationResponse>(std::move(known));
  }
};

TEST_F(Security, TokenAuthenticatorsServeRequestsAndReviews) {
  const std::vector<std::shared_ptr<Authenticator>> plugins = {std::make_shared<KnownToken>(), std::make_shared<Tokens>()};
  exchange.request_headers = {{"authorization", "bearer good"}};
  EXPECT_EQ(ask(UnionAuthentication({true, {plugins[1]}}))->name, "jane");
  UnionTokenAuthentication all(plugins);
  auto known = run_on(loop, all.authenticate_token("good", {"api"}));
  ASSERT_TRUE(known.ok() && known->has_value());
  EXPECT_EQ((*known)->user.groups, std::vector<std::string>{"system:authenticated"});
  EXPECT_EQ((*known)->audiences, std::vector<std::string>{"api"});
  EXPECT_FALSE(run_on(loop, all.authenticate_token("expired", {})).ok());
  auto unknown = run_on(loop, all.authenticate_token("other", {}));
  EXPECT_TRUE(unknown.ok() && !unknown->has_value());
}

class Refuser final : public TokenAuthenticator {
 public:
  explicit Refuser(std::string why) : why_(std::move(why)) {}
  std::string_view name() const noexcept override { return "refuser"; }
  Task<AuthenticationResult> authenticate_token(std::string, std::vector<std::string>) override { co_return unauthorized(why_); }

 private:
  const std::string why_;
};

// Regression: only the last error was reported.
TEST_F(Security, AllReasonsOfARefusedTokenAreReported) {
  UnionTokenAuthentication all(
      {std::make_shared<Refuser>("no signature"), std::make_shared<Tokens>(), std::make_shared<Refuser>("expired")});
  EXPECT_EQ(run_on(loop, all.authenticate_token("expired", {})).status().message(), "[no signature, expired]");
  EXPECT_EQ(run_on(loop, all.authenticate_token("other", {})).status().message(), "[no signature, expired]");
  EXPECT_TRUE(run_on(loop, all.authenticate_token("good", {})).ok());
}

TEST_F(Security, AskingBeforeThereIsAServerIsAnErrorAndNoPermission) {
  PublishedAuthorizer published;
  AuthorizationAttributes attributes;
  attributes.user = loopback_user();
  auto early = run_on(loop, published.authorize(attributes));
  EXPECT_EQ(early.decision, Decision::kNoOpinion);
  EXPECT_EQ(early.error.reason(), Reason::kServiceUnavailable);
  published.publish(std::make_shared<Authorization>(std::vector<std::shared_ptr<Authorizer>>()));
  EXPECT_EQ(run_on(loop, published.authorize(attributes)).decision, Decision::kAllow);
}

// Publishes another configuration during the call, then decides.
class Reloader final : public Authorizer {
 public:
  Reloader(PublishedAuthorizer& published, std::shared_ptr<Authorization> next) : published_(published), next_(std::move(next)) {}
  std::string_view name() const noexcept override { return "reloader"; }
  Task<AuthorizerResult> authorize(const AuthorizationAttributes&) override {
    published_.publish(std::move(next_));
    co_return AuthorizerResult{Decision::kAllow, "", {}};
  }

 private:
  PublishedAuthorizer& published_;
  std::shared_ptr<Authorization> next_;
};

TEST_F(Security, AuthorizationIsReplacedAtomicallyAndTheFormerOneEndsWithItsLastRequest) {
  PublishedAuthorizer published;
  using Authorizers = std::vector<std::shared_ptr<Authorizer>>;
  auto first = std::make_shared<Authorization>(
      Authorizers{std::make_shared<Reloader>(published, std::make_shared<Authorization>(Authorizers{make_always_deny()}))});
  const std::weak_ptr<Authorization> former = first;
  published.publish(std::move(first));
  AuthorizationAttributes attributes;
  EXPECT_EQ(run_on(loop, published.authorize(attributes)).decision, Decision::kAllow) << "a request ends with what it began with";
  EXPECT_TRUE(former.expired());
  EXPECT_EQ(run_on(loop, published.authorize(attributes)).decision, Decision::kNoOpinion);
}

TEST_F(Security, CountsOfAnAuthorizerGoOnAfterAReplacement) {
  using Authorizers = std::vector<std::shared_ptr<Authorizer>>;
  Authorization first(Authorizers{make_always_allow()});
  AuthorizationAttributes attributes;
  (void)run_on(loop, first.authorize(attributes));
  Authorization second(Authorizers{make_always_deny(), make_always_allow()}, &first);
  (void)run_on(loop, second.authorize(attributes));
  EXPECT_EQ(second.decisions(1).allowed, 2u);
}

}  // namespace
}  // namespace backplane
