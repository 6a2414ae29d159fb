#include "backplane/workload/pod_annotations.hpp"

#include <gtest/gtest.h>

#include "backplane/workload/pod_validation.hpp"

namespace backplane::workload {
namespace {

Object parse(std::string_view text) { return json::parse(json::string_view(text.data(), text.size())).get_object(); }

Object template_with(std::string_view annotations, std::string_view security = "{}") {
  return parse("{\"metadata\":{\"annotations\":" + std::string(annotations) +
               "},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"terminationMessagePolicy\":\"File\",\"imagePullPolicy\":"
               "\"Always\",\"securityContext\":" +
               std::string(security) + "}]}}");
}

std::string problems_of(std::string_view annotations, std::string_view security = "{}") {
  FieldErrors errors;
  validate_pod_template(template_with(annotations, security), "template", {}, errors);
  return errors.aggregate_message();
}

constexpr char kPath[] = "template.annotations";

TEST(PodAnnotations, AreWhatTheyMayBe) {
  const std::string path(kPath);
  EXPECT_EQ(problems_of(R"({"other":"x","controller.kubernetes.io/pod-deletion-cost":"-5"})"), "");
  EXPECT_EQ(problems_of(R"({"kubernetes.io/config.mirror":"x"})"),
            path + "[kubernetes.io/config.mirror]: Invalid value: \"x\": must set spec.nodeName if mirror pod annotation is set");
  for (const std::string cost : {"", "+1", "01", "x", "4294967296", "1.5"}) {
    EXPECT_EQ(problems_of("{\"controller.kubernetes.io/pod-deletion-cost\":\"" + cost + "\"}"),
              path + "[controller.kubernetes.io/pod-deletion-cost]: Invalid value: \"" + cost + "\": must be a 32bit integer");
  }
  EXPECT_EQ(problems_of(R"({"seccomp.security.alpha.kubernetes.io/pod":"x"})"),
            path + ".seccomp.security.alpha.kubernetes.io/pod: Invalid value: \"x\": must be a valid seccomp profile");
  EXPECT_EQ(problems_of(R"({"container.seccomp.security.alpha.kubernetes.io/c":"localhost/../x"})"),
            path + ".container.seccomp.security.alpha.kubernetes.io/c: Invalid value: \"../x\": must not contain '..'");
  EXPECT_EQ(problems_of(R"({"container.apparmor.security.beta.kubernetes.io/d":"unconfined"})"),
            path + "[container.apparmor.security.beta.kubernetes.io/d]: Invalid value: \"d\": container not found");
  EXPECT_EQ(problems_of(R"({"container.apparmor.security.beta.kubernetes.io/c":"x"})"),
            path + "[container.apparmor.security.beta.kubernetes.io/c]: Invalid value: \"x\": invalid AppArmor profile name: \"x\"");
  EXPECT_EQ(problems_of(R"({"scheduler.alpha.kubernetes.io/tolerations":"[{\"key\":\"a\",\"operator\":\"Exists\"}]"})"), "");
  EXPECT_EQ(problems_of(R"({"scheduler.alpha.kubernetes.io/tolerations":"[{\"key\":\"a\",\"operator\":\"Exists\",\"value\":\"b\"}]"})"),
            path +
                ".scheduler.alpha.kubernetes.io/tolerations[0].operator: Invalid value: \"b\": value must be empty when `operator` is "
                "'Exists'");
}

// Regression: the search for the container of each annotation was linear.
TEST(PodAnnotations, ManyContainersAreLookedUp) {
  constexpr int kMany = 30'000;
  std::string annotations, containers;
  for (int i = 0; i < kMany; ++i) {
    const std::string comma = i == 0 ? "" : ",", name = "c" + std::to_string(i);
    annotations += comma + "\"container.apparmor.security.beta.kubernetes.io/" + name + "\":\"unconfined\"";
    containers += comma + R"({"image":"i","name":")" + name + "\"}";
  }
  FieldErrors errors;
  validate_pod_annotations(parse("{" + annotations + "}"), parse(R"({"containers":[)" + containers + "]}"), "a", nullptr, errors);
  EXPECT_TRUE(errors.empty()) << errors.aggregate_message();
}

TEST(PodAnnotations, OfIsolationSayWhatTheFieldsSay) {
  const std::string field = "template.spec.containers[0].securityContext.";
  EXPECT_EQ(problems_of(R"({"container.apparmor.security.beta.kubernetes.io/c":"localhost/a"})",
                        R"({"appArmorProfile":{"type":"Localhost","localhostProfile":"b"}})"),
            field + "appArmorProfile.localhostProfile: Forbidden: apparmor profile in annotation and field must match");
  EXPECT_EQ(problems_of(R"({"container.seccomp.security.alpha.kubernetes.io/c":"docker/default"})",
                        R"({"seccompProfile":{"type":"RuntimeDefault"}})"),
            "");
  EXPECT_EQ(problems_of(R"({"container.seccomp.security.alpha.kubernetes.io/c":"docker/default"})",
                        R"({"seccompProfile":{"type":"Unconfined"}})"),
            field + "seccompProfile.type: Forbidden: seccomp type in annotation and field must match");
}

TEST(PodAnnotations, OfAppArmorBecomeFields) {
  Object pod = template_with(R"({"container.apparmor.security.beta.kubernetes.io/c":"localhost/a"})");
  EXPECT_EQ(take_app_armor_annotations(pod).size(), 1U);
  const Value& security = pod.at("spec").at("containers").at(0).at("securityContext");
  EXPECT_EQ(to_json(security), R"({"appArmorProfile":{"type":"Localhost","localhostProfile":"a"}})");
  EXPECT_TRUE(take_app_armor_annotations(pod).empty()) << "the field is there now";

  Object other = template_with(R"({"container.apparmor.security.beta.kubernetes.io/c":"runtime/default"})");
  other.at("spec").get_object()["securityContext"] = parse(R"({"appArmorProfile":{"type":"RuntimeDefault"}})");
  EXPECT_TRUE(take_app_armor_annotations(other).empty()) << "the pod says so already";
  EXPECT_EQ(to_json(other.at("spec").at("containers").at(0).at("securityContext")), "{}");
}

}  // namespace
}  // namespace backplane::workload
