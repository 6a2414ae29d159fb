#include <deque>
#include <set>

#include "filters/filters_fixture.hpp"
#include "filters/impersonation_headers.hpp"

namespace backplane {
namespace {

using filters_testing::TestExchange;

// Allows the requests in a list: "user verb group/resource[/subresource] namespace/name" or "user verb path". Records the attributes of all
// requests.
class ListedAuthorizer final : public ResumableAuthorizer {
 public:
  std::set<std::string> allowed;
  mutable std::vector<std::string> asked;
  mutable UserInfo last_user;
  std::string reason;
  Status error;

  std::string_view name() const noexcept override { return "listed"; }
  std::optional<AuthorizerResult> begin(const RequestView&, std::shared_ptr<PendingAuthorization>& pending) const override {
    pending = std::make_shared<PendingAuthorization>();
    return std::nullopt;
  }
  Task<AuthorizerResult> finish(const AuthorizationAttributes& wanted, std::shared_ptr<PendingAuthorization>) override {
    return authorize(wanted);
  }
  Task<AuthorizerResult> authorize(const AuthorizationAttributes& wanted) override {
    std::string text = wanted.user->name + " " + wanted.verb + " ";
    if (wanted.resource_request) {
      text += wanted.api_group + "/" + wanted.resource + (wanted.subresource.empty() ? "" : "/" + wanted.subresource);
      text += " " + wanted.ns + "/" + wanted.name;
    } else {
      text += wanted.path;
    }
    asked.push_back(text);
    last_user = *wanted.user;
    if (allowed.contains(text)) co_return AuthorizerResult{Decision::kAllow, "", error};
    co_return AuthorizerResult{Decision::kNoOpinion, reason, error};
  }
};

struct ImpersonationFilter : filters_testing::Filters {
  ImpersonationFilter() {
    requestor.name = "boss";
    requestor.groups = {"system:authenticated"};
    config.authorization = &authorizer;
    handler.answer = [this](RequestContext& context, Exchange& exchange) { return answer(context, exchange); };
  }
  Task<void> answer(RequestContext& context, Exchange& exchange) {
    user = *context.user;
    co_await filters_testing::TestHandler::ok(context, exchange);
  }
  // Sends GET of a pod with these headers. All calls use one chain, so decisions stay cached.
  TestExchange& get(Headers headers, std::string_view target = "/api/v1/namespaces/n/pods/p") {
    if (!chain) chain = std::make_unique<HandlerChain>(config, handler);
    TestExchange& exchange = exchanges.emplace_back();
    exchange.request_target = target;
    exchange.request_headers = std::move(headers);
    user = {};
    authorizer.asked.clear();
    run_on(loop, send_as(*chain, exchange, requestor));
    return exchange;
  }
  static Task<void> send_as(HandlerChain& chain, TestExchange& exchange, UserRef requestor) {
    RequestContext context;
    context.user = std::move(requestor);
    co_await chain.handle(context, exchange);
  }
  void allow(std::initializer_list<const char*> texts) { authorizer.allowed.insert(texts.begin(), texts.end()); }

  std::deque<TestExchange> exchanges;
  ListedAuthorizer authorizer;
  UserInfo requestor;
  std::unique_ptr<HandlerChain> chain;
  UserInfo user;  // the user that the handler received
};

using Texts = std::vector<std::string>;

std::string message_of(const TestExchange& exchange) {
  const auto at = exchange.body.find("\"message\":\"");
  if (at == std::string::npos) return exchange.body;
  const auto begin = at + 11;
  std::string out;
  for (std::size_t i = begin; i < exchange.body.size() && exchange.body[i] != '"'; ++i) {
    if (exchange.body[i] == '\\') ++i;
    out.push_back(exchange.body[i]);
  }
  return out;
}

TEST_F(ImpersonationFilter, TheLegacyVerbNeedsNoOther) {
  allow({"boss impersonate /users /jane", "jane get /pods n/p"});
  const auto& exchange = get({{"Impersonate-User", "jane"}, {"impersonate-user", "jane"}, {"x", "y"}});
  EXPECT_EQ(exchange.code, 200);
  EXPECT_EQ(user.name, "jane");
  EXPECT_EQ(user.groups, Texts{"system:authenticated"});
  EXPECT_EQ(authorizer.asked,
            (Texts{"boss impersonate-on:user-info:get /pods n/p", "boss impersonate /users /jane", "jane get /pods n/p"}));
  EXPECT_EQ(handler.headers, (Headers{{"x", "y"}})) << "handlers do not learn of the impersonation";
  // The mode that succeeded last is tried first.
  get({{"impersonate-user", "jane"}});
  EXPECT_EQ(authorizer.asked, (Texts{"boss impersonate /users /jane", "jane get /pods n/p"}));
}

TEST_F(ImpersonationFilter, ARefusalIsThatOfTheFirstMode) {
  authorizer.reason = "why";
  const auto& exchange = get({{"impersonate-user", "jane"}});
  EXPECT_EQ(exchange.code, 403);
  EXPECT_EQ(exchange.response_header("X-Content-Type-Options"), "nosniff");
  EXPECT_EQ(message_of(exchange),
            "pods \"p\" is forbidden: User \"boss\" cannot impersonate-on:user-info:get resource \"pods\" in API "
            "group \"\" in the namespace \"n\": why");
  EXPECT_EQ(handler.calls, 0);
  // After a success in legacy mode, the error is that of legacy mode.
  allow({"boss impersonate /users /jane", "jane get /pods n/p"});
  EXPECT_EQ(get({{"impersonate-user", "jane"}}).code, 200);
  EXPECT_EQ(message_of(get({{"impersonate-user", "joe"}})),
            "users \"joe\" is forbidden: User \"boss\" cannot impersonate resource \"users\" in API group \"\" at the cluster scope: why");
}

TEST_F(ImpersonationFilter, EveryGroupUidAndExtraValueIsChecked) {
  allow({"boss impersonate /users /jane", "boss impersonate /groups /a", "boss impersonate authentication.k8s.io/uids /7",
         "boss impersonate authentication.k8s.io/userextras/x/y /1", "boss impersonate authentication.k8s.io/userextras/x/y /2",
         "jane get /pods n/p"});
  const Headers headers{{"impersonate-user", "jane"},
                        {"impersonate-group", "a"},
                        {"impersonate-uid", "7"},
                        {"impersonate-extra-x%2fY", "1"},
                        {"Impersonate-Extra-X%2Fy", "2"}};
  EXPECT_EQ(get(headers).code, 200);
  EXPECT_EQ(user.uid, "7");
  EXPECT_EQ(user.groups, (Texts{"a", "system:authenticated"}));
  ASSERT_EQ(user.extra.size(), 1u);
  EXPECT_EQ(user.extra[0].first, "x/y");
  EXPECT_EQ(user.extra[0].second, (Texts{"1", "2"}));
  for (const auto& needed : {"boss impersonate /groups /a", "boss impersonate authentication.k8s.io/uids /7",
                             "boss impersonate authentication.k8s.io/userextras/x/y /2"}) {
    authorizer.allowed.erase(needed);
    EXPECT_EQ(get(headers).code, 403) << needed;
    allow({needed});
  }
}

TEST_F(ImpersonationFilter, DefaultGroupsDependOnTheUser) {
  allow({"boss impersonate /serviceaccounts ns/sa", "boss impersonate /users /system:anonymous", "boss impersonate /users /jane",
         "boss impersonate /groups /system:unauthenticated", "boss impersonate /users /system:serviceaccount:NS:sa"});
  get({{"impersonate-user", "system:serviceaccount:ns:sa"}});
  EXPECT_EQ(authorizer.last_user.groups, (Texts{"system:serviceaccounts", "system:serviceaccounts:ns", "system:authenticated"}));
  get({{"impersonate-user", "system:anonymous"}});
  EXPECT_EQ(authorizer.last_user.groups, Texts{"system:unauthenticated"});
  get({{"impersonate-user", "jane"}, {"impersonate-group", "system:unauthenticated"}});
  EXPECT_EQ(authorizer.last_user.groups, Texts{"system:unauthenticated"});
  get({{"impersonate-user", "system:serviceaccount:NS:sa"}});
  EXPECT_EQ(authorizer.last_user.name, "system:serviceaccount:NS:sa") << "no valid namespace: an ordinary user";
  EXPECT_EQ(authorizer.last_user.groups, Texts{"system:authenticated"});
}

TEST_F(ImpersonationFilter, AConstrainedUserNeedsBothVerbs) {
  allow({"boss impersonate-on:user-info:get /pods n/p", "jane get /pods n/p", "jane get /pods n/q"});
  EXPECT_EQ(message_of(get({{"impersonate-user", "jane"}})),
            "users.authentication.k8s.io \"jane\" is forbidden: User \"boss\" cannot impersonate:user-info resource \"users\" in API group "
            "\"authentication.k8s.io\" at the cluster scope");
  allow({"boss impersonate:user-info authentication.k8s.io/users /jane"});
  EXPECT_EQ(get({{"impersonate-user", "jane"}}).code, 200);
  EXPECT_EQ(get({{"impersonate-user", "jane"}}, "/api/v1/namespaces/n/pods/q").code, 403) << "another request";
  // A success is cached.
  EXPECT_EQ(get({{"impersonate-user", "jane"}}).code, 200);
  EXPECT_EQ(authorizer.asked, Texts{"jane get /pods n/p"});
}

TEST_F(ImpersonationFilter, ConstrainedUsersAreNeverMastersOrOddlyNamed) {
  allow({"boss impersonate-on:user-info:get /pods n/p", "boss impersonate:user-info authentication.k8s.io/users /jane",
         "boss impersonate:user-info authentication.k8s.io/groups /*"});
  EXPECT_EQ(
      message_of(get({{"impersonate-user", "jane"}, {"impersonate-group", "system:masters"}})),
      "groups.authentication.k8s.io \"system:masters\" is forbidden: User \"boss\" cannot impersonate:user-info resource \"groups\" in "
      "API group \"authentication.k8s.io\" at the cluster scope: impersonating the system:masters group is not allowed");
  EXPECT_NE(message_of(get({{"impersonate-user", "jane"}, {"impersonate-group", ""}})).find("the empty string group is not allowed"),
            std::string::npos);
  EXPECT_NE(message_of(get({{"impersonate-user", "jane"}, {"impersonate-extra-a", "1"}})).find("impersonating an invalid key in extra"),
            std::string::npos);
  EXPECT_NE(message_of(get({{"impersonate-user", "jane"}, {"impersonate-extra-a.b/c", ""}})).find("the empty string value in extra"),
            std::string::npos);
}

TEST_F(ImpersonationFilter, ManyGroupsMayBeAllowedAtOnce) {
  allow({"boss impersonate-on:user-info:get /pods n/p", "boss impersonate:user-info authentication.k8s.io/users /jane",
         "boss impersonate:user-info authentication.k8s.io/groups /*", "jane get /pods n/p"});
  Headers headers{{"impersonate-user", "jane"}};
  for (const char* group : {"a", "b", "c"}) headers.emplace_back("impersonate-group", group);
  EXPECT_EQ(get(headers).code, 403) << "so few are checked one by one";
  headers.emplace_back("impersonate-group", "d");
  EXPECT_EQ(get(headers).code, 200);
}

TEST_F(ImpersonationFilter, NodesAndServiceAccountsHaveModesOfTheirOwn) {
  allow({"boss impersonate-on:arbitrary-node:get /pods n/p", "boss impersonate:arbitrary-node authentication.k8s.io/nodes /n1",
         "boss impersonate-on:serviceaccount:get /pods n/p", "boss impersonate:serviceaccount authentication.k8s.io/serviceaccounts ns/sa",
         "system:node:n1 get /pods n/p", "system:serviceaccount:ns:sa get /pods n/p"});
  EXPECT_EQ(get({{"impersonate-user", "system:node:n1"}}).code, 200);
  EXPECT_EQ(user.groups, (Texts{"system:nodes", "system:authenticated"}));
  EXPECT_EQ(get({{"impersonate-user", "system:serviceaccount:ns:sa"}}).code, 200);
  EXPECT_EQ(user.groups, (Texts{"system:serviceaccounts", "system:serviceaccounts:ns", "system:authenticated"}));
  EXPECT_EQ(get({{"impersonate-user", "system:node:n1"}, {"impersonate-group", "g"}}).code, 403) << "groups cannot be chosen";
}

TEST_F(ImpersonationFilter, AServiceAccountOnANodeMayActAsThatNodeAlone) {
  requestor.name = "system:serviceaccount:ns:agent";
  requestor.extra = {{"authentication.kubernetes.io/node-name", {"n1"}}};
  allow({"system:serviceaccount:ns:agent impersonate-on:associated-node:get /pods n/p",
         "system:serviceaccount:ns:agent impersonate:associated-node authentication.k8s.io/nodes /*", "system:node:n1 get /pods n/p",
         "system:node:n2 get /pods n/p"});
  EXPECT_EQ(get({{"impersonate-user", "system:node:n1"}}).code, 200);
  EXPECT_EQ(user.name, "system:node:n1");
  EXPECT_EQ(get({{"impersonate-user", "system:node:n2"}}).code, 403);
  // The same service account needs no other permission on another node, because the cached decision applies to all nodes.
  requestor.extra[0].second = {"n2"};
  EXPECT_EQ(get({{"impersonate-user", "system:node:n2"}}).code, 200);
  EXPECT_EQ(user.name, "system:node:n2");
  EXPECT_EQ(authorizer.asked, Texts{"system:node:n2 get /pods n/p"});
}

TEST_F(ImpersonationFilter, AnErrorOfTheAuthorizerIsPartOfTheRefusal) {
  authorizer.reason = "why";
  authorizer.error = Status(Reason::kInternalError, "lost");
  const std::string message = message_of(get({{"impersonate-user", "jane"}}));
  EXPECT_TRUE(message.ends_with("in the namespace \"n\": lost: why")) << message;
}

TEST_F(ImpersonationFilter, WithoutTheGateOnlyTheLegacyVerbCounts) {
  config.constrained_impersonation = false;
  allow({"boss impersonate-on:user-info:get /pods n/p", "boss impersonate:user-info authentication.k8s.io/users /jane"});
  EXPECT_EQ(message_of(get({{"impersonate-user", "jane"}})),
            "users \"jane\" is forbidden: User \"boss\" cannot impersonate resource \"users\" in API group \"\" at the cluster scope");
  EXPECT_EQ(message_of(get({{"impersonate-group", "g"}, {"impersonate-uid", "7"}})),
            "requested [{Group  g    } {UID  7  authentication.k8s.io/v1  }] without impersonating a user");
}

TEST_F(ImpersonationFilter, CountsAttemptsByMode) {
  allow({"boss impersonate /users /jane"});
  get({{"impersonate-user", "jane"}});
  get({{"impersonate-user", "joe"}});
  constexpr std::size_t kLegacyMode = 4;
  EXPECT_EQ(metrics.impersonation.attempts(kLegacyMode, true).count(), 1u);
  EXPECT_EQ(metrics.impersonation.attempts(ImpersonationMetrics::kNoMode, false).count(), 1u);
  EXPECT_EQ(metrics.impersonation.authorizations(kLegacyMode, true).count(), 1u);
}

TEST_F(ImpersonationFilter, HeadersWithoutAUserAre400) {
  EXPECT_EQ(
      message_of(get({{"impersonate-group", ""}, {"impersonate-extra-b", "y"}, {"impersonate-extra-a%2fb", "x"}})),
      "requested u0026user.DefaultInfo{Name:\"\", UID:\"\", Groups:[]string{\"\"}, Extra:map[string][]string{\"a/b\":[]string{\"x\"}, "
      "\"b\":[]string{\"y\"}}} without impersonating a user name");
  EXPECT_EQ(get({{"impersonate-uid", "x"}}).code, 400);
}

TEST_F(ImpersonationFilter, HeadersThatOnlyLookLikeItAreIgnored) {
  allow({"boss get /pods n/p"});
  EXPECT_EQ(get({{"impersonate-foo", "jane"}, {"impersonate-groups", "x"}, {"impersonate-user", ""}, {"impersonate-uid", ""}}).code, 200);
  EXPECT_EQ(user.name, "boss");
  EXPECT_FALSE(is_impersonation_header("impersonate-extra"));
  EXPECT_TRUE(is_impersonation_header("IMPERSONATE-EXTRA-X"));
}

}  // namespace
}  // namespace backplane
