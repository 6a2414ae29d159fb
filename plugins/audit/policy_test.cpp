// Audit policies: decoding, validation, and the deciding rule.
#include "policy_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace backplane::audit {
namespace {

constexpr std::string_view kHead = "apiVersion: audit.k8s.io/v1\nkind: Policy\n";

std::string error_of(std::string_view body) {
  auto policy = parse_policy(std::string(kHead) + std::string(body));
  return policy.ok() ? "" : policy.status().message();
}

AuthorizationAttributes resource(std::string verb, std::string group, std::string name_of, std::string subresource = "",
                                 std::string ns = "", std::string name = "") {
  AuthorizationAttributes out;
  out.user = UserInfo{"jane", "", {"dev", "system:authenticated"}, {}};
  out.verb = std::move(verb);
  out.resource_request = true;
  out.path = "/api/v1/whatever";
  out.api_group = std::move(group);
  out.resource = std::move(name_of);
  out.subresource = std::move(subresource);
  out.ns = std::move(ns);
  out.name = std::move(name);
  return out;
}

AuthorizationAttributes path(std::string text) {
  AuthorizationAttributes out;
  out.verb = "get";
  out.path = std::move(text);
  return out;
}

struct Rules {
  explicit Rules(std::string_view body) {
    auto loaded = parse_policy(std::string(kHead) + std::string(body));
    EXPECT_TRUE(loaded.ok()) << loaded.status().message();
    if (loaded.ok()) policy = loaded->policy;
  }
  AuditDecision decide(const AuthorizationAttributes& attributes) const { return policy->decide(RequestView(attributes)); }
  bool match(const AuthorizationAttributes& attributes) const { return decide(attributes).level == AuditLevel::kMetadata; }
  std::shared_ptr<const CompiledPolicy> policy;
};

TEST(AuditPolicyFile, IsDecodedAsUpstreamDecodesIt) {
  EXPECT_EQ(error_of("rules:\n- level: Metadata\n"), "");
  EXPECT_EQ(error_of("rules: []\n"), "loaded illegal policy with 0 rules");
  EXPECT_EQ(error_of(""), "loaded illegal policy with 0 rules");
  auto wrong = parse_policy("apiVersion: audit.k8s.io/v1beta1\nkind: Policy\nrules:\n- level: None\n");
  ASSERT_FALSE(wrong.ok());
  EXPECT_TRUE(
      wrong.status().message().starts_with("failed decoding: no kind \"Policy\" is registered for version \"audit.k8s.io/v1beta1\""))
      << wrong.status().message();
  // The file is decoded into upstream's internal version, whose defaults apply.
  EXPECT_TRUE(parse_policy("apiVersion: audit.k8s.io/v1\nrules:\n- level: None\n").ok());
  for (const char* text : {"", "kind: Policy\nrules:\n- level: None\n", "{}", "rules: 1\n"}) {
    EXPECT_EQ(parse_policy(text).status().message(), "unknown group version field audit.k8s.io/__internal, Kind=Policy in policy") << text;
  }
  EXPECT_FALSE(parse_policy("{{{").ok());
  EXPECT_NE(error_of("rules: 7\n"), "");
  auto lenient = parse_policy(std::string(kHead) + "color: red\nrules:\n- level: Metadata\n  verbz: [get]\n");
  ASSERT_TRUE(lenient.ok());
  EXPECT_EQ(lenient->problems, "unknown field \"color\", unknown field \"rules[0].verbz\"");
  auto json = parse_policy(R"({"apiVersion":"audit.k8s.io/v1","kind":"Policy","metadata":{"name":"a"},"rules":[{"level":"Request"}]})");
  ASSERT_TRUE(json.ok()) << json.status().message();
  EXPECT_EQ(json->policy->decide(RequestView(path("/x"))).level, AuditLevel::kRequest);
}

TEST(AuditPolicyFile, ErrorsNameTheFile) {
  auto absent = load_policy("/nonexistent/policy.yaml");
  ASSERT_FALSE(absent.ok());
  EXPECT_EQ(absent.status().message(),
            "failed to read file path \"/nonexistent/policy.yaml\": open /nonexistent/policy.yaml: no such file or directory");
  const std::string file = std::filesystem::temp_directory_path() / ("audit-policy-" + std::to_string(::getpid()));
  std::ofstream(file) << kHead << "rules:\n- level: Some\n";
  auto invalid = load_policy(file);
  ASSERT_FALSE(invalid.ok());
  EXPECT_EQ(invalid.status().message(),
            "rules[0].level: Unsupported value: \"Some\": supported values: \"None\", \"Metadata\", "
            "\"Request\", \"RequestResponse\": from file " +
                file);
  std::filesystem::remove(file);
}

TEST(AuditPolicyFile, IsValidated) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"rules:\n- users: [a]\n", "rules[0].level: Required value"},
      {"omitStages: [Begin]\nrules:\n- level: None\n",
       "omitStages[0]: Invalid value: \"Begin\": allowed stages are RequestReceived,ResponseStarted,ResponseComplete,Panic"},
      {"rules:\n- level: None\n  omitStages: [Panic, x]\n",
       "rules[0].omitStages[1]: Invalid value: \"x\": allowed stages are RequestReceived,ResponseStarted,ResponseComplete,Panic"},
      {"rules:\n- level: None\n  nonResourceURLs: [healthz]\n",
       "rules[0].nonResourceURLs[0]: Invalid value: \"healthz\": non-resource URL rules must begin with a '/' character"},
      {"rules:\n- level: None\n  nonResourceURLs: [\"/a*b\"]\n",
       "rules[0].nonResourceURLs[0]: Invalid value: \"/a*b\": non-resource URL wildcards '*' must be the final character of the rule"},
      {"rules:\n- level: None\n  nonResourceURLs: [\"/a\"]\n  namespaces: [b]\n",
       "rules[0].nonResourceURLs: Invalid value: [\"/a\"]: rules cannot apply to both regular resources and non-resource URLs"},
      {"rules:\n- level: None\n  resources:\n  - resourceNames: [a]\n",
       "rules[0].resources.resourceNames: Invalid value: [\"a\"]: using resourceNames requires at least one resource"},
  };
  for (const auto& [body, error] : cases) EXPECT_EQ(error_of(body), error) << body;
  EXPECT_TRUE(
      error_of("rules:\n- level: None\n  resources:\n  - group: rbac.authorization.k8s.io/v1\n")
          .starts_with("rules[0].resources.group: Invalid value: \"rbac.authorization.k8s.io/v1\": a lowercase RFC 1123 subdomain"));
  EXPECT_TRUE(error_of("rules:\n- level: x\n- level: z\n").starts_with("[rules[0].level: Unsupported value"));
}

TEST(AuditPolicy, TheFirstMatchingRuleDecides) {
  const Rules rules(
      "omitStages: [RequestReceived]\nrules:\n- level: None\n  verbs: [watch]\n- level: Request\n  users: [jane]\n"
      "  omitStages: [Panic]\n- level: Metadata\n  userGroups: [ops, dev]\n");
  EXPECT_EQ(rules.decide(resource("watch", "", "pods")).level, AuditLevel::kNone);
  const AuditDecision jane = rules.decide(resource("get", "", "pods"));
  EXPECT_EQ(jane.level, AuditLevel::kRequest);
  EXPECT_TRUE(jane.omits(AuditStage::kRequestReceived));
  EXPECT_TRUE(jane.omits(AuditStage::kPanic));
  EXPECT_FALSE(jane.omits(AuditStage::kResponseComplete));
  auto joe = resource("get", "", "pods");
  joe.user = UserInfo{"joe", "", {"dev"}, {}};
  EXPECT_EQ(rules.decide(joe).level, AuditLevel::kMetadata);
  EXPECT_FALSE(rules.decide(joe).omits(AuditStage::kPanic));
  joe.user = UserInfo{"joe", "", {"other"}, {}};
  EXPECT_EQ(rules.decide(joe).level, AuditLevel::kNone) << "no rule: not audited";
  joe.user = UserRef();
  EXPECT_EQ(rules.decide(joe).level, AuditLevel::kNone) << "a request without a user matches no rule for users";
}

TEST(AuditPolicy, ManagedFieldsOfARulePrecedeThoseOfThePolicy) {
  const Rules rules("omitManagedFields: true\nrules:\n- level: Request\n  verbs: [get]\n- level: Request\n  omitManagedFields: false\n");
  EXPECT_TRUE(rules.decide(resource("get", "", "pods")).omit_managed_fields);
  EXPECT_FALSE(rules.decide(resource("list", "", "pods")).omit_managed_fields);
}

struct ResourceCase {
  std::string_view name, list;
  AuthorizationAttributes attributes;
  bool matches;
};

TEST(AuditPolicy, ResourcesMatchByGroupNameAndSubresource) {
  const auto pod = resource("get", "", "pods", "", "a", "p1"), log = resource("get", "", "pods", "log", "a", "p1");
  const auto status = resource("update", "apps", "deployments", "status", "a", "d");
  const ResourceCase cases[] = {
      {"the group alone", R"([{"group":""}])", pod, true},
      {"another group", R"([{"group":"apps"}])", pod, false},
      {"any group", R"([{"group":"*","resources":["deployments/status"]}])", status, true},
      {"a resource without its subresources", R"([{"group":"","resources":["pods"]}])", log, false},
      {"a resource", R"([{"group":"","resources":["pods"]}])", pod, true},
      {"everything", R"([{"group":"","resources":["*"]}])", log, true},
      {"one subresource", R"([{"group":"","resources":["pods/log"]}])", log, true},
      {"one subresource, of the resource itself", R"([{"group":"","resources":["pods/log"]}])", pod, false},
      {"a subresource of any resource", R"([{"group":"apps","resources":["*/status"]}])", status, true},
      {"another subresource of any resource", R"([{"group":"apps","resources":["*/scale"]}])", status, false},
      {"a resource with its subresources", R"([{"group":"","resources":["pods/*"]}])", log, true},
      {"a resource with its subresources, itself", R"([{"group":"","resources":["pods/*"]}])", pod, true},
      {"another resource with its subresources", R"([{"group":"","resources":["services/*"]}])", pod, false},
      {"a name", R"([{"group":"","resources":["pods"],"resourceNames":["p0","p1"]}])", pod, true},
      {"another name", R"([{"group":"","resources":["pods"],"resourceNames":["p0"]}])", pod, false},
      {"the second of two", R"([{"group":"apps"},{"group":"","resources":["pods"]}])", pod, true},
  };
  for (const auto& each : cases) {
    const Rules rules("rules: [{level: Metadata, resources: " + std::string(each.list) + "}]\n");
    EXPECT_EQ(rules.match(each.attributes), each.matches) << each.name;
    EXPECT_FALSE(rules.match(path("/healthz"))) << each.name;
  }
}

TEST(AuditPolicy, NamespacesMatchRequestsForResources) {
  const Rules rules("rules:\n- level: Metadata\n  namespaces: [a, \"\"]\n");
  EXPECT_TRUE(rules.match(resource("get", "", "pods", "", "a")));
  EXPECT_TRUE(rules.match(resource("get", "", "nodes"))) << "without a namespace";
  EXPECT_FALSE(rules.match(resource("get", "", "pods", "", "b")));
  EXPECT_FALSE(rules.match(path("/healthz")));
}

TEST(AuditPolicy, PathsMatchRequestsForNoResource) {
  const Rules rules("rules:\n- level: Metadata\n  nonResourceURLs: [\"/healthz*\", \"/version\"]\n");
  EXPECT_TRUE(rules.match(path("/healthz")));
  EXPECT_TRUE(rules.match(path("/healthz/ping")));
  EXPECT_TRUE(rules.match(path("/version")));
  EXPECT_FALSE(rules.match(path("/version/")));
  EXPECT_FALSE(rules.match(path("/livez")));
  EXPECT_FALSE(rules.match(resource("get", "", "pods")));
  const Rules all("rules:\n- level: Metadata\n  nonResourceURLs: [\"*\"]\n");
  EXPECT_TRUE(all.match(path("/livez")));
  EXPECT_FALSE(all.match(resource("get", "", "pods")));
}

TEST(AuditPolicy, LongListsAreSearched) {
  std::string users;
  for (int i = 0; i < 50; ++i) users += "u" + std::to_string(i) + ", ";
  const Rules rules("rules:\n- level: Metadata\n  users: [" + users + "zoe]\n");
  auto request = resource("get", "", "pods");
  for (const auto& [name, matches] : {std::pair{"u7", true}, {"u49", true}, {"zoe", true}, {"u50", false}, {"", false}}) {
    request.user = UserInfo{name, "", {}, {}};
    EXPECT_EQ(rules.match(request), matches) << name;
  }
}

}  // namespace
}  // namespace backplane::audit
