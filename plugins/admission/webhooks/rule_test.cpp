#include "webhooks/rule.hpp"

#include <gtest/gtest.h>

#include "webhooks/circuit_breaker.hpp"
#include "webhooks/hook_match.hpp"
#include "webhooks/label_match.hpp"
#include "webhooks/own_service.hpp"

namespace backplane::admission::webhooks {
namespace {

using namespace std::chrono_literals;

Rule parsed_rule(std::string_view text) { return read_rule(json::parse(text).get_object()); }

struct RuleCase {
  const char* name;
  const char* rule;
  AdmissionOperation operation;
  GroupVersionResource resource;
  const char* subresource;
  const char* ns;
  bool matches;
};

constexpr auto kCreateOp = AdmissionOperation::kCreate;

// predicates/rules/rules_test.go, with all parts of the rule set.
const RuleCase kRuleCases[] = {
    {"group wildcard",
     R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"]})",
     kCreateOp,
     {"g", "v", "r"},
     "",
     "ns",
     true},
    {"group exact",
     R"({"operations":["*"],"apiGroups":["g1","g2"],"apiVersions":["*"],"resources":["*"]})",
     kCreateOp,
     {"g2", "v", "r"},
     "",
     "ns",
     true},
    {"group other",
     R"({"operations":["*"],"apiGroups":["g1","g2"],"apiVersions":["*"],"resources":["*"]})",
     kCreateOp,
     {"g3", "v", "r"},
     "",
     "ns",
     false},
    {"version exact",
     R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["v1","v2"],"resources":["*"]})",
     kCreateOp,
     {"g", "v2", "r"},
     "",
     "ns",
     true},
    {"version other",
     R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["v1","v2"],"resources":["*"]})",
     kCreateOp,
     {"g", "v3", "r"},
     "",
     "ns",
     false},
    {"operation exact",
     R"({"operations":["UPDATE","DELETE"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"]})",
     AdmissionOperation::kDelete,
     {"g", "v", "r"},
     "",
     "ns",
     true},
    {"operation other",
     R"({"operations":["UPDATE","DELETE"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"]})",
     AdmissionOperation::kConnect,
     {"g", "v", "r"},
     "",
     "ns",
     false},
    {"connect",
     R"({"operations":["CONNECT"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"]})",
     AdmissionOperation::kConnect,
     {"g", "v", "r"},
     "",
     "ns",
     true},
    {"no subresources",
     R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"]})",
     kCreateOp,
     {"g", "v", "r"},
     "exec",
     "ns",
     false},
    {"all subresources",
     R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["r/*"]})",
     kCreateOp,
     {"g", "v", "r"},
     "exec",
     "ns",
     true},
    {"all subresources, resource itself",
     R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["r/*"]})",
     kCreateOp,
     {"g", "v", "r"},
     "",
     "ns",
     true},
    {"all subresources of another",
     R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["r/*","r2"]})",
     kCreateOp,
     {"g", "v", "r2"},
     "proxy",
     "ns",
     false},
    {"one subresource of all",
     R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*/exec"]})",
     kCreateOp,
     {"g", "v", "r"},
     "exec",
     "ns",
     true},
    {"cluster scope, namespaced",
     R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"],"scope":"Cluster"})",
     kCreateOp,
     {"g", "v", "r"},
     "",
     "ns",
     false},
    {"cluster scope, cluster-scoped",
     R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"],"scope":"Cluster"})",
     kCreateOp,
     {"g", "v", "r"},
     "",
     "",
     true},
    {"cluster scope, a namespace",
     R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"],"scope":"Cluster"})",
     kCreateOp,
     {"", "v1", "namespaces"},
     "",
     "ns",
     true},
    {"namespaced scope, a namespace",
     R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"],"scope":"Namespaced"})",
     kCreateOp,
     {"", "v1", "namespaces"},
     "",
     "ns",
     false},
    {"namespaced scope, namespaced",
     R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"],"scope":"Namespaced"})",
     kCreateOp,
     {"g", "v", "r"},
     "",
     "ns",
     true},
    {"namespaced scope, cluster-scoped",
     R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"],"scope":"Namespaced"})",
     kCreateOp,
     {"g", "v", "r"},
     "",
     "",
     false},
    {"unknown scope",
     R"({"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"],"scope":"Other"})",
     kCreateOp,
     {"g", "v", "r"},
     "",
     "ns",
     false},
};

TEST(WebhookRule, MatchesAsUpstream) {
  for (const RuleCase& each : kRuleCases) {
    EXPECT_EQ(rule_matches(parsed_rule(each.rule), each.operation, each.resource, each.subresource, each.ns), each.matches) << each.name;
  }
}

TEST(WebhookSelector, ReadsMatchLabelsAndExpressions) {
  const auto matches = [](const char* selector, const Labels& labels) {
    const Value parsed = json::parse(selector);
    const LabelMatch match = read_label_selector(&parsed.get_object());
    EXPECT_TRUE(match.problem.ok()) << selector;
    return match.selector.matches(labels);
  };
  EXPECT_TRUE(matches(R"({})", {}));
  EXPECT_TRUE(matches(R"({"matchLabels":{"a":"b"}})", {{"a", "b"}}));
  EXPECT_FALSE(matches(R"({"matchLabels":{"a":"b"}})", {{"a", "c"}}));
  EXPECT_TRUE(matches(R"({"matchExpressions":[{"key":"a","operator":"In","values":["x","b"]}]})", {{"a", "b"}}));
  EXPECT_TRUE(matches(R"({"matchExpressions":[{"key":"a","operator":"NotIn","values":["x","y"]}]})", {}));
  EXPECT_FALSE(matches(R"({"matchExpressions":[{"key":"a","operator":"Exists"},{"key":"z","operator":"Exists"}]})", {{"a", "b"}}));
  EXPECT_TRUE(matches(R"({"matchExpressions":[{"key":"a","operator":"DoesNotExist"}]})", {{"z", ""}}));
  const Value broken = json::parse(R"({"matchExpressions":[{"key":"a b","operator":"Exists"}]})");
  EXPECT_FALSE(read_label_selector(&broken.get_object()).problem.ok());
  EXPECT_TRUE(read_label_selector(nullptr).everything());
}

TEST(WebhookExemption, ConfigurationsAndPoliciesAreNeverIntercepted) {
  AdmissionAttributes attributes;
  for (const char* kind : {"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration", "ValidatingAdmissionPolicy",
                           "ValidatingAdmissionPolicyBinding", "MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding"}) {
    attributes.kind = {"admissionregistration.k8s.io", "v1", kind};
    EXPECT_TRUE(is_exempt(attributes)) << kind;
    attributes.kind.group = "example.com";
    EXPECT_FALSE(is_exempt(attributes)) << kind;
  }
  attributes.kind = {"admissionregistration.k8s.io", "v1", "Other"};
  EXPECT_FALSE(is_exempt(attributes));
}

TEST(OwnService, HoldsForTheServicesPartsInItsNamespaceOnly) {
  AdmissionAttributes attributes;
  attributes.ns = "hooks";
  for (const GroupVersionResource& part :
       {GroupVersionResource("", "v1", "pods"), GroupVersionResource("", "v1", "services"), GroupVersionResource("", "v1", "endpoints"),
        GroupVersionResource("discovery.k8s.io", "v1", "endpointslices"), GroupVersionResource("apps", "v1", "replicasets")}) {
    attributes.resource = part;
    EXPECT_TRUE(writes_own_service("hooks", attributes)) << part.resource;
    EXPECT_FALSE(writes_own_service("other", attributes)) << part.resource;
    EXPECT_FALSE(writes_own_service("", attributes)) << "a webhook with a URL";
  }
  attributes.resource = {"", "v1", "configmaps"};
  EXPECT_FALSE(writes_own_service("hooks", attributes));
  attributes.resource = {"example.com", "v1", "pods"};
  EXPECT_FALSE(writes_own_service("hooks", attributes));
}

TEST(OwnService, HoldsForTokensReportsOfNodesAndReviews) {
  const auto holds = [](std::string ns, GroupVersionResource resource, std::string subresource) {
    AdmissionAttributes attributes;
    attributes.ns = std::move(ns);
    attributes.resource = std::move(resource);
    attributes.subresource = std::move(subresource);
    return writes_own_service("hooks", attributes);
  };
  EXPECT_TRUE(holds("hooks", {"", "v1", "serviceaccounts"}, "token"));
  EXPECT_FALSE(holds("hooks", {"", "v1", "serviceaccounts"}, ""));
  EXPECT_FALSE(holds("other", {"", "v1", "serviceaccounts"}, "token"));
  EXPECT_TRUE(holds("", {"", "v1", "nodes"}, "status"));
  EXPECT_FALSE(holds("", {"", "v1", "nodes"}, ""));
  EXPECT_TRUE(holds("kube-node-lease", {"coordination.k8s.io", "v1", "leases"}, ""));
  EXPECT_TRUE(holds("hooks", {"coordination.k8s.io", "v1", "leases"}, ""));
  EXPECT_FALSE(holds("kube-system", {"coordination.k8s.io", "v1", "leases"}, ""));
  EXPECT_TRUE(holds("", {"authentication.k8s.io", "v1", "tokenreviews"}, ""));
  EXPECT_TRUE(holds("", {"authorization.k8s.io", "v1", "subjectaccessreviews"}, ""));
}

TEST(WebhookCircuit, OpensAfterFailuresInARowAndClosesAfterAProbe) {
  using Change = CircuitBreaker::Change;
  CircuitBreaker breaker(2);
  const CircuitBreaker::Clock::time_point start{};
  EXPECT_TRUE(breaker.enter(start));
  EXPECT_EQ(breaker.ended(true, start), Change::kNone);
  EXPECT_EQ(breaker.ended(false, start), Change::kNone) << "a success begins anew";
  EXPECT_EQ(breaker.ended(true, start), Change::kNone);
  EXPECT_EQ(breaker.ended(true, start), Change::kOpened);
  EXPECT_TRUE(breaker.open());
  EXPECT_FALSE(breaker.enter(start + 999ms));
  EXPECT_TRUE(breaker.enter(start + 1s)) << "the probe";
  EXPECT_FALSE(breaker.enter(start + 1s)) << "one probe at a time";
  EXPECT_EQ(breaker.ended(true, start + 1s), Change::kNone);
  EXPECT_FALSE(breaker.enter(start + 2s)) << "the pause has doubled";
  EXPECT_TRUE(breaker.enter(start + 3s));
  EXPECT_EQ(breaker.ended(false, start + 3s), Change::kClosed);
  EXPECT_TRUE(breaker.enter(start + 3s));
}

TEST(WebhookCircuit, ThePauseHasALimit) {
  CircuitBreaker breaker(1);
  CircuitBreaker::Clock::time_point now{};
  (void)breaker.ended(true, now);
  for (int i = 0; i < 10; ++i) {
    now += CircuitBreaker::kLongestPause;
    ASSERT_TRUE(breaker.enter(now)) << i;
    (void)breaker.ended(true, now);
  }
}

}  // namespace
}  // namespace backplane::admission::webhooks
