#include <gtest/gtest.h>

#include "kind_under_test.hpp"
#include "kinds.hpp"

namespace backplane::apps {
namespace {

constexpr std::string_view kTemplate =
    R"("template":{"metadata":{"labels":{"app":"d"}},"spec":{"containers":[{"name":"c","image":"nginx"}]}})";

using kit::KindRow;

KindRow row_of(std::string_view kind) { return apps_group()->kind(kind); }

testing::KindUnderTest kind(KindRow row) { return testing::KindUnderTest(std::move(row), *apps_schemas(), "apps"); }

Object made(KindRow row, std::string_view spec_start) {
  return kind(std::move(row))
      .created("{\"metadata\":{\"name\":\"d\",\"namespace\":\"n\"},\"spec\":{" + std::string(spec_start) + std::string(kTemplate) + "}}");
}

std::string problems_of(KindRow row, const Object& object) { return kind(std::move(row)).problems(object); }

TEST(Deployments, HaveTheirDefaults) {
  const KindRow row = row_of("Deployment");
  const Object deployment = made(row, R"("selector":{"matchLabels":{"app":"d"}},)");
  EXPECT_EQ(problems_of(row, deployment), "");
  EXPECT_EQ(get_int_path(deployment, "spec.replicas"), 1);
  EXPECT_EQ(get_int_path(deployment, "spec.progressDeadlineSeconds"), 600);
  EXPECT_EQ(to_json(*find_path(deployment, "spec.strategy")),
            R"({"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":"25%","maxSurge":"25%"}})");
}

TEST(Deployments, SelectorsAreRequiredAndFixed) {
  const KindRow row = row_of("Deployment");
  EXPECT_TRUE(problems_of(row, made(row, "")).starts_with("[spec.selector: Required value, spec.template.metadata.labels:"));
  EXPECT_EQ(problems_of(row, made(row, R"("selector":{},)")), "spec.selector: Invalid value: {}: empty selector is invalid for deployment");
  const Object old = made(row, R"("selector":{"matchLabels":{"app":"d"}},)");
  Object now = old;
  now.at("spec").get_object()["selector"] = json::parse(R"({"matchLabels":{"app":"e"}})");
  EXPECT_TRUE(kind(row).change_problems(now, old).starts_with(
      R"([spec.selector: Invalid value: {"matchLabels":{"app":"e"}}: field is immutable,)"));
}

TEST(Deployments, UnknownStrategiesArePrintedCompletely) {
  const KindRow row = row_of("Deployment");
  const Object deployment = made(row, R"("selector":{"matchLabels":{"app":"d"}},"strategy":{"type":"x"},)");
  EXPECT_EQ(problems_of(row, deployment),
            R"(spec.strategy: Unsupported value: {"Type":"x","RollingUpdate":null}: supported values: "Recreate", "RollingUpdate")");
}

TEST(DaemonSets, CountTheirTemplates) {
  const KindRow row = row_of("DaemonSet");
  const auto strategy = row.strategy();
  const Object old = made(row, R"("selector":{"matchLabels":{"app":"d"}},)");
  EXPECT_EQ(to_json(*find_path(old, {"metadata", "annotations"})), R"({"deprecated.daemonset.template.generation":"1"})");
  Object now = old;
  RequestContext context;
  strategy->apply_defaults(now);
  strategy->prepare_for_update(context, now, old);
  EXPECT_EQ(to_json(*find_path(now, {"metadata", "annotations"})), R"({"deprecated.daemonset.template.generation":"1"})");
  find_path(now, "spec.template");
  now.at("spec").get_object().at("template").get_object()["metadata"] = json::parse(R"({"labels":{"app":"d","x":"y"}})");
  strategy->apply_defaults(now);
  strategy->prepare_for_update(context, now, old);
  EXPECT_EQ(to_json(*find_path(now, {"metadata", "annotations"})), R"({"deprecated.daemonset.template.generation":"2"})");
}

TEST(StatefulSets, GiveTheirPodsNamesOfTheirOwn) {
  const KindRow row = row_of("StatefulSet");
  Object set = made(row, R"("selector":{"matchLabels":{"app":"d"}},"serviceName":"s",)");
  set.at("spec").at("template").at("spec").get_object()["hostname"] = "Not A Name";
  EXPECT_EQ(problems_of(row, set), "");
}

// Regression: the name of each was searched linearly among all previous ones.
TEST(StatefulSets, MayHaveManyClaims) {
  constexpr int kMany = 10'000;
  std::string claims;
  for (int i = 0; i < kMany; ++i) {
    claims += (i == 0 ? "" : ",") + (R"({"metadata":{"name":"c)" + std::to_string(i) + R"("},"spec":{"accessModes":["ReadWriteOnce"],)") +
              R"("resources":{"requests":{"storage":"1"}}}})";
  }
  const KindRow row = row_of("StatefulSet");
  const Object set = made(row, R"("selector":{"matchLabels":{"app":"d"}},"serviceName":"s","volumeClaimTemplates":[)" + claims + "],");
  EXPECT_EQ(problems_of(row, set), "");
}

TEST(StatefulSets, FreezeMostOfTheirSpec) {
  const KindRow row = row_of("StatefulSet");
  const Object old = made(row, R"("serviceName":"a","selector":{"matchLabels":{"app":"d"}},)");
  EXPECT_EQ(problems_of(row, old), "");
  Object now = old;
  now.at("spec").get_object()["replicas"] = 5;
  EXPECT_EQ(kind(row).change_problems(now, old), "");
  now.at("spec").get_object()["serviceName"] = "b";
  EXPECT_TRUE(
      kind(row).change_problems(now, old).starts_with("spec: Forbidden: updates to statefulset spec for fields other than 'replicas'"));
}

// Objects that another server has stored have the member, and reading them must preserve it.
TEST(StatefulSets, ClaimTemplatesSayWhatTheyAre) {
  const Object set =
      kind(row_of("StatefulSet")).defaulted(R"({"spec":{"volumeClaimTemplates":[{"metadata":{"name":"c"},"kind":"Other"}]}})");
  const Array& claims = set.at("spec").get_object().at("volumeClaimTemplates").get_array();
  EXPECT_TRUE(to_json(claims).starts_with(R"([{"kind":"PersistentVolumeClaim","apiVersion":"v1","metadata":{"name":"c"})"))
      << to_json(claims);
}

TEST(Workloads, WarnOfNamesAndTemplates) {
  using Texts = std::vector<std::string>;
  const std::string spec = R"("selector":{"matchLabels":{"app":"d"}},"revisionHistoryLimit":-1,)";
  Object object = made(row_of("Deployment"), spec);
  object.at("metadata").get_object()["name"] = "a.b";
  const Texts name{
      "metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: "
      "[must not contain dots]"};
  EXPECT_EQ(row_of("Deployment").strategy()->warnings(object, nullptr), name);
  EXPECT_EQ(row_of("ReplicaSet").strategy()->warnings(object, nullptr), name);
  EXPECT_EQ(row_of("Deployment").strategy()->warnings(object, &object), Texts{});
  EXPECT_EQ(row_of("DaemonSet").strategy()->warnings(object, nullptr), Texts{});
  const Texts history{"spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended"};
  EXPECT_EQ(row_of("StatefulSet").strategy()->warnings(object, nullptr), history);
  EXPECT_EQ(row_of("StatefulSet").strategy()->warnings(object, &object), history);
}

TEST(ReplicaSets, AreNotSelectedByTheirCount) { EXPECT_TRUE(row_of("ReplicaSet").strategy()->facts().selectable.empty()); }

TEST(ControllerRevisions, KeepTheirData) {
  const auto revision = kind(row_of("ControllerRevision"));
  EXPECT_EQ(revision.problems(revision.normalized(R"({"revision":-1})")),
            "[data: Required value: data is mandatory, revision: Invalid value: -1: must be greater than or equal to 0]");
}

TEST(Deployments, RollingSettingsBelongToRollingUpdates) {
  const KindRow row = row_of("Deployment");
  const Object deployment =
      made(row, R"("selector":{"matchLabels":{"app":"d"}},"strategy":{"type":"Recreate","rollingUpdate":{"maxSurge":1}},)");
  EXPECT_EQ(problems_of(row, deployment),
            "spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'");
  const Object recreated = made(row, R"("selector":{"matchLabels":{"app":"d"}},"strategy":{"type":"Recreate"},)");
  EXPECT_EQ(to_json(*find_path(recreated, "spec.strategy")), R"({"type":"Recreate"})");
  EXPECT_EQ(
      problems_of(
          row, made(row, R"("selector":{"matchLabels":{"app":"d"}},"strategy":{"rollingUpdate":{"maxUnavailable":0,"maxSurge":"0%"}},)")),
      "spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0");
}

TEST(Workloads, StatusCountsAreNotAboveTheReplicas) {
  const auto problems = [](const char* kind, std::string_view now, std::string_view old) {
    const auto parsed = [](std::string_view status) { return json::parse("{\"status\":" + std::string(status) + "}").get_object(); };
    const Object before = parsed(old);
    FieldErrors errors;
    apps_schemas()->find(GroupVersionKind{"apps", "v1", kind})->check(parsed(now), &before, ObjectPart::kStatus, "", errors);
    return errors.aggregate_message();
  };
  EXPECT_EQ(problems("ReplicaSet", R"({"replicas":1,"readyReplicas":2,"availableReplicas":1})", "{}"),
            "status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas");
  EXPECT_EQ(problems("StatefulSet", R"({"replicas":3,"readyReplicas":1,"availableReplicas":2})", "{}"),
            "status.availableReplicas: Invalid value: 2: cannot be greater than status.readyReplicas");
  EXPECT_EQ(
      problems("Deployment", R"({"replicas":3,"readyReplicas":1,"availableReplicas":2,"collisionCount":1})", R"({"collisionCount":2})"),
      "[status.collisionCount: Invalid value: 1: cannot be decremented, "
      "status.availableReplicas: Invalid value: 2: cannot be greater than readyReplicas]");
}

TEST(StatefulSets, UpdateStrategiesAreTwo) {
  const KindRow row = row_of("StatefulSet");
  const auto problems = [&](const char* strategy) {
    return problems_of(
        row, made(row, R"("serviceName":"s","selector":{"matchLabels":{"app":"d"}},"updateStrategy":)" + std::string(strategy) + ","));
  };
  EXPECT_EQ(problems(R"({"type":"x"})"),
            R"(spec.updateStrategy: Invalid value: {"Type":"x","RollingUpdate":null}: must be 'RollingUpdate' or 'OnDelete')");
  EXPECT_EQ(problems(R"({"type":"OnDelete","rollingUpdate":{"partition":1}})"),
            R"(spec.updateStrategy.rollingUpdate: Invalid value: {"partition":1}: only allowed for updateStrategy 'RollingUpdate')");
}

}  // namespace
}  // namespace backplane::apps
