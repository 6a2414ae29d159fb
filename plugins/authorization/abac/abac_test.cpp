#include <gtest/gtest.h>

#include "abac/abac_authorizer.hpp"
#include "turn_executor.hpp"

namespace backplane::authorization {
namespace {

constexpr std::string_view kPolicy = R"(# comment

{"apiVersion":"abac.authorization.kubernetes.io/v1beta1","kind":"Policy","spec":{"user":"alice","apiGroup":"*","resource":"*","namespace":"*"}}
{"apiVersion":"abac.authorization.kubernetes.io/v1beta1","kind":"Policy","spec":{"user":"bob","apiGroup":"apps","resource":"deployments","namespace":"n","readonly":true}}
{"apiVersion":"abac.authorization.kubernetes.io/v1beta1","kind":"Policy","spec":{"group":"ops","nonResourcePath":"/debug/*"}}
{"apiVersion":"abac.authorization.kubernetes.io/v1beta1","kind":"Policy","spec":{"user":"carol","group":"ops","nonResourcePath":"*"}}
{"apiVersion":"abac.authorization.kubernetes.io/v1beta1","kind":"Policy","spec":{"group":"*","nonResourcePath":"/version"}}
{"apiVersion":"abac.authorization.kubernetes.io/v1beta1","kind":"Policy","spec":{"apiGroup":"*","resource":"*","namespace":"*"}}
)";

struct AbacTest : testing::Test {
  static AbacAuthorizer authorizer(std::string_view text) {
    auto policy = parse_abac_policy(text, "f");
    EXPECT_TRUE(policy.ok()) << policy.status().message();
    return AbacAuthorizer(policy.ok() ? policy->rules : std::vector<AbacRule>());
  }
  static bool resource(const AbacAuthorizer& authorizer, UserInfo user, std::string verb, std::string group, std::string resource,
                       std::string ns) {
    AuthorizationAttributes wanted;
    wanted.user = std::move(user);
    wanted.resource_request = true;
    wanted.verb = std::move(verb);
    wanted.api_group = std::move(group);
    wanted.resource = std::move(resource);
    wanted.ns = std::move(ns);
    return authorizer.decide_now(RequestView(wanted))->decision == Decision::kAllow;
  }
  static bool path(const AbacAuthorizer& authorizer, UserInfo user, std::string verb, std::string path) {
    AuthorizationAttributes wanted;
    wanted.user = std::move(user);
    wanted.verb = std::move(verb);
    wanted.path = std::move(path);
    return authorizer.decide_now(RequestView(wanted))->decision == Decision::kAllow;
  }
  static Task<void> store(AbacAuthorizer& authorizer, UserInfo user, std::string ns, RuleList& out) {
    auto listing = authorizer.rules_for(std::move(user), std::move(ns));
    out = co_await std::move(listing);
  }
  static RuleList listed(AbacAuthorizer& authorizer, const UserInfo& user, const std::string& ns) {
    RuleList out;
    test::TurnExecutor turns;
    turns.start(store(authorizer, user, ns, out));
    return out;
  }
  static std::string error(std::string_view text) {
    const auto policy = parse_abac_policy(text, "f");
    return policy.ok() ? "" : policy.status().message();
  }
  const UserInfo alice{"alice", "", {"system:authenticated"}, {}}, bob{"bob", "", {"system:authenticated"}, {}};
  const UserInfo carol{"carol", "", {"ops", "system:authenticated"}, {}}, anonymous{"system:anonymous", "", {"system:unauthenticated"}, {}};
};

TEST_F(AbacTest, RulesMatchSubjectVerbAndObject) {
  const auto policy = authorizer(kPolicy);
  EXPECT_TRUE(resource(policy, alice, "delete", "apps", "deployments", "n"));
  EXPECT_TRUE(resource(policy, alice, "list", "", "nodes", ""));
  EXPECT_FALSE(path(policy, alice, "get", "/debug/x")) << "a rule of resources";
  for (const char* verb : {"get", "list", "watch"}) EXPECT_TRUE(resource(policy, bob, verb, "apps", "deployments", "n"));
  EXPECT_FALSE(resource(policy, bob, "create", "apps", "deployments", "n"));
  EXPECT_FALSE(resource(policy, bob, "get", "apps", "deployments", "m"));
  EXPECT_FALSE(resource(policy, bob, "get", "", "deployments", "n"));
  EXPECT_FALSE(resource(policy, bob, "get", "apps", "replicasets", "n"));
  EXPECT_TRUE(path(policy, {"x", "", {"ops"}, {}}, "get", "/debug/pprof"));
  EXPECT_FALSE(path(policy, {"x", "", {"ops"}, {}}, "get", "/metrics")) << "carol's rule needs both";
  EXPECT_TRUE(path(policy, carol, "get", "/metrics"));
  EXPECT_TRUE(path(policy, bob, "get", "/version")) << "* is every authenticated user";
  EXPECT_FALSE(path(policy, anonymous, "get", "/version"));
  EXPECT_FALSE(resource(policy, carol, "get", "", "pods", "n")) << "a rule without a subject matches no user";
}

TEST_F(AbacTest, ARefusalHasUpstreamsReason) {
  AuthorizationAttributes wanted;
  const auto result = authorizer(kPolicy).decide_now(RequestView(wanted));
  EXPECT_EQ(result->decision, Decision::kNoOpinion);
  EXPECT_EQ(result->reason, "No policy matched.");
}

TEST_F(AbacTest, OldLinesMatchEverythingThatTheyLeaveOut) {
  EXPECT_TRUE(path(authorizer("{}"), bob, "post", "/anything"));
  EXPECT_TRUE(resource(authorizer("{}"), bob, "delete", "apps", "deployments", "n"));
  EXPECT_FALSE(path(authorizer("{}"), anonymous, "get", "/x"));
  const auto pods = authorizer(R"({"user":"bob","resource":"pods","readonly":true})");
  EXPECT_TRUE(resource(pods, bob, "get", "", "pods", "n"));
  EXPECT_FALSE(resource(pods, bob, "delete", "", "pods", "n"));
  EXPECT_FALSE(resource(pods, alice, "get", "", "pods", "n"));
  EXPECT_FALSE(path(pods, bob, "get", "/version"));
  EXPECT_EQ(parse_abac_policy("{}\n{}", "f")->unversioned, 2u);
  EXPECT_EQ(parse_abac_policy(kPolicy, "f")->unversioned, 0u);
}

TEST_F(AbacTest, ALineWithoutBraceIsYaml) {
  EXPECT_TRUE(path(authorizer("null"), bob, "post", "/anything"));
  const auto pods = authorizer("user: bob\n\"user\": carol\n--- {user: dan, resource: pods}");
  EXPECT_TRUE(path(pods, bob, "post", "/anything"));
  EXPECT_TRUE(path(pods, carol, "post", "/anything"));
  EXPECT_FALSE(path(pods, alice, "post", "/anything"));
  EXPECT_TRUE(resource(pods, {"dan", "", {}, {}}, "get", "", "pods", "n"));
  EXPECT_EQ(error("{user: bob}"),
            "error reading policy file f, line 1: {user: bob}: couldn't get version/kind; json parse error: invalid character 'u' looking "
            "for beginning of object key string");
}

TEST_F(AbacTest, TheOldFormatHasAVersionToo) {
  const auto old = authorizer(R"({"apiVersion":"abac.authorization.kubernetes.io/v0","kind":"Policy","user":"bob"})");
  EXPECT_TRUE(path(old, bob, "post", "/anything"));
  EXPECT_EQ(parse_abac_policy(R"({"kind":"Policy","user":"bob"})", "f")->unversioned, 1u);
  EXPECT_NE(error(R"({"kind":"Other","user":"bob"})"), "");
}

TEST_F(AbacTest, ErrorsNameFileLineAndContent) {
  EXPECT_EQ(error("# x\nrubbish"),
            "error reading policy file f, line 2: rubbish: couldn't get version/kind; json parse error: json: cannot unmarshal string into "
            "Go value of type struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string "
            "\"json:\\\"kind,omitempty\\\"\" }");
  EXPECT_EQ(error("{x"),
            "error reading policy file f, line 1: {x: couldn't get version/kind; json parse error: invalid character 'x' looking for "
            "beginning of object key string");
  EXPECT_EQ(error("kind: 1"),
            "error reading policy file f, line 1: kind: 1: couldn't get version/kind; json parse error: json: cannot "
            "unmarshal number into Go struct field .kind of type string");
  EXPECT_EQ(error(R"({"apiVersion":"v1","kind":"Pod"})"),
            R"(error reading policy file f, line 1: {"apiVersion":"v1","kind":"Pod"}: no kind "Pod" is registered for version "v1")"
            R"( in scheme "pkg/runtime/scheme.go:111")");
  const std::string typed = R"({"apiVersion":"abac.authorization.kubernetes.io/v1beta1","kind":"Policy","spec":{"user":1}})";
  EXPECT_EQ(error(typed), "error reading policy file f, line 1: " + typed +
                              ": json: cannot unmarshal number into Go struct field PolicySpec.spec.user of type string");
  EXPECT_NE(error("[]"), "");
  EXPECT_EQ(error(std::string(70'000, ' ')), "error reading policy file f: bufio.Scanner: token too long");
  EXPECT_EQ(read_abac_policy("/absent").status().message(), "open /absent: no such file or directory");
}

TEST_F(AbacTest, RulesOfAUserAreListed) {
  auto policy = authorizer(kPolicy);
  const RuleList bobs = listed(policy, bob, "n");
  EXPECT_FALSE(bobs.incomplete);
  ASSERT_EQ(bobs.resource_rules.size(), 1u);
  EXPECT_EQ(bobs.resource_rules[0].verbs, (std::vector<std::string>{"get", "list", "watch"}));
  EXPECT_EQ(bobs.resource_rules[0].api_groups, std::vector<std::string>{"apps"});
  EXPECT_EQ(bobs.resource_rules[0].resources, std::vector<std::string>{"deployments"});
  EXPECT_TRUE(listed(policy, bob, "other").resource_rules.empty());
  EXPECT_EQ(listed(policy, alice, "other").resource_rules[0].verbs, std::vector<std::string>{"*"});
}

}  // namespace
}  // namespace backplane::authorization
