#include "webhooks/own_service.hpp"

#include <gtest/gtest.h>

#include "webhooks/circuit_breaker.hpp"
#include "webhooks/hook_match.hpp"
#include "webhooks/label_match.hpp"

namespace backplane::admission::webhooks {
namespace {

using namespace std::chrono_literals;

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
