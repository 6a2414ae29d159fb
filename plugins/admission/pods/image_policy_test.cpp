#include "objects/objects_test_kit.hpp"
#include "pods/image_policy_config.hpp"
#include "pods/image_review.hpp"

namespace backplane::admission::test {
namespace {

using namespace std::chrono_literals;

TEST(ImagePolicyConfig, TimesHaveDefaultsRangesAndASwitch) {
  auto config = pods::parse_image_policy_config(R"({"imagePolicy":{"kubeConfigFile":"f","allowTTL":-1,"denyTTL":60,"defaultAllow":true}})");
  ASSERT_TRUE(config.ok()) << config.status().message();
  EXPECT_EQ(config->kubeconfig, "f");
  EXPECT_EQ(config->allow_ttl, 0ns);
  EXPECT_EQ(config->deny_ttl, 60s);
  EXPECT_EQ(config->retry_backoff, 500ms);
  EXPECT_TRUE(config->default_allow);
  const auto problem = [](std::string_view members) {
    auto refused = pods::parse_image_policy_config(R"({"imagePolicy":{)" + std::string(members) + "}}");
    return refused.ok() ? std::string() : refused.status().message();
  };
  EXPECT_EQ(problem(R"("allowTTL":3600)"), "valid value is between 1s and 30m0s, got 1h0m0s");
  EXPECT_EQ(problem(R"("retryBackoff":-2)"), "valid value is between 1ns and 5m0s, got -2ms");
  EXPECT_EQ(problem(R"("allowTtl":1)"), "unknown field \"imagePolicy.allowTtl\"");
  EXPECT_EQ(pods::parse_image_policy_config("").status().message(), "no config specified");
}

TEST(ImagePolicyConfig, DurationsArePrintedAsGoDoes) {
  const std::pair<std::chrono::nanoseconds, std::string_view> cases[] = {
      {0ns, "0s"}, {1ns, "1ns"}, {1500us, "1.5ms"}, {90s, "1m30s"}, {1h + 500ms, "1h0m0.5s"}, {-2ms, "-2ms"}};
  for (const auto& [duration, text] : cases) EXPECT_EQ(pods::go_duration_text(duration), text);
}

TEST(ImageReview, AsksAboutImagesAndTheirAnnotations) {
  WriteUnderTest pod({"", "v1", "Pod"}, "pods",
                     R"({"metadata":{"name":"p","annotations":{"b.image-policy.k8s.io/x":"1","a":"2"}},)"
                     R"("spec":{"initContainers":[{"image":"i"}],"containers":[{"image":"c"}],"ephemeralContainers":[{"image":"e"}]}})");
  EXPECT_EQ(
      pods::image_review(pods::image_review_spec(pod.attributes)),
      R"({"kind":"ImageReview","apiVersion":"imagepolicy.k8s.io/v1alpha1","metadata":{},"spec":{"containers":[{"image":"c"},{"image":"i"}],)"
      R"("annotations":{"b.image-policy.k8s.io/x":"1"},"namespace":"default"},"status":{"allowed":false}})"
      "\n");
  pod.attributes.subresource = "ephemeralcontainers";
  EXPECT_NE(pods::image_review_spec(pod.attributes).find(R"("containers":[{"image":"e"}])"), std::string::npos);
}

TEST(ImageReview, AnswersAreChecked) {
  auto review = pods::read_image_review(
      R"({"kind":"ImageReview","apiVersion":"imagepolicy.k8s.io/v1alpha1","status":{"allowed":true,"reason":"r","auditAnnotations":{"k":"v"}}})");
  ASSERT_TRUE(review.ok()) << review.status().message();
  const auto status = pods::image_review_status(*review);
  EXPECT_TRUE(status.allowed);
  EXPECT_EQ(status.reason, "r");
  ASSERT_EQ(status.audit_annotations.size(), 1U);
  EXPECT_FALSE(pods::read_image_review(R"({"kind":"Pod","apiVersion":"v1"})").ok());
  EXPECT_FALSE(pods::read_image_review(R"({"status":{"allowed":"yes"}})").ok());
  EXPECT_FALSE(pods::read_image_review("").ok());
}

}  // namespace
}  // namespace backplane::admission::test
