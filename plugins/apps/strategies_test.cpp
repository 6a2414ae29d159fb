#include "strategies.hpp"

#include <gtest/gtest.h>

namespace backplane::apps {
namespace {

Object parse(std::string_view text) { return json::parse(json::string_view(text.data(), text.size())).get_object(); }

constexpr std::string_view kTemplate =
    R"("template":{"metadata":{"labels":{"app":"d"}},"spec":{"containers":[{"name":"c","image":"nginx"}]}})";

Object made(const Strategy& strategy, std::string_view spec_start) {
  Object object =
      parse("{\"metadata\":{\"name\":\"d\",\"namespace\":\"n\"},\"spec\":{" + std::string(spec_start) + std::string(kTemplate) + "}}");
  RequestContext context;
  strategy.apply_defaults(object);
  strategy.prepare_for_create(context, object);
  return object;
}

std::string problems_of(const Strategy& strategy, const Object& object) {
  RequestContext context;
  FieldErrors errors;
  strategy.validate(context, object, errors);
  return errors.empty() ? "" : errors.aggregate_message();
}

TEST(Deployments, HaveTheirDefaults) {
  const auto strategy = deployment_strategy();
  const Object deployment = made(*strategy, R"("selector":{"matchLabels":{"app":"d"}},)");
  EXPECT_EQ(problems_of(*strategy, deployment), "");
  EXPECT_EQ(get_int_path(deployment, "spec.replicas"), 1);
  EXPECT_EQ(get_int_path(deployment, "spec.progressDeadlineSeconds"), 600);
  EXPECT_EQ(to_json(*find_path(deployment, "spec.strategy")),
            R"({"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":"25%","maxSurge":"25%"}})");
}

TEST(Deployments, SelectorsAreRequiredAndFixed) {
  const auto strategy = deployment_strategy();
  EXPECT_TRUE(problems_of(*strategy, made(*strategy, "")).starts_with("[spec.selector: Required value, spec.template.metadata.labels:"));
  EXPECT_EQ(problems_of(*strategy, made(*strategy, R"("selector":{},)")),
            "spec.selector: Invalid value: {}: empty selector is invalid for deployment");
  const Object old = made(*strategy, R"("selector":{"matchLabels":{"app":"d"}},)");
  Object now = old;
  now.at("spec").get_object()["selector"] = json::parse(R"({"matchLabels":{"app":"e"}})");
  RequestContext context;
  FieldErrors errors;
  strategy->validate_update(context, now, old, errors);
  EXPECT_EQ(errors.list()[0].text, R"(Invalid value: {"matchLabels":{"app":"e"}}: field is immutable)");
}

TEST(Deployments, UnknownStrategiesAreShownWhole) {
  const auto strategy = deployment_strategy();
  const Object deployment = made(*strategy, R"("selector":{"matchLabels":{"app":"d"}},"strategy":{"type":"x"},)");
  EXPECT_EQ(problems_of(*strategy, deployment),
            R"(spec.strategy: Unsupported value: {"Type":"x","RollingUpdate":null}: supported values: "Recreate", "RollingUpdate")");
}

TEST(DaemonSets, CountTheirTemplates) {
  const auto strategy = daemon_set_strategy();
  const Object old = made(*strategy, R"("selector":{"matchLabels":{"app":"d"}},)");
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

TEST(StatefulSets, FreezeMostOfTheirSpec) {
  const auto strategy = stateful_set_strategy();
  const Object old = made(*strategy, R"("serviceName":"a","selector":{"matchLabels":{"app":"d"}},)");
  EXPECT_EQ(problems_of(*strategy, old), "");
  Object now = old;
  now.at("spec").get_object()["replicas"] = 5;
  RequestContext context;
  FieldErrors errors;
  strategy->validate_update(context, now, old, errors);
  EXPECT_TRUE(errors.empty());
  now.at("spec").get_object()["serviceName"] = "b";
  strategy->validate_update(context, now, old, errors);
  EXPECT_TRUE(errors.aggregate_message().starts_with("spec: Forbidden: updates to statefulset spec for fields other than 'replicas'"));
}

TEST(Workloads, WarnOfNamesAndTemplates) {
  using Texts = std::vector<std::string>;
  const std::string spec = R"("selector":{"matchLabels":{"app":"d"}},"revisionHistoryLimit":-1,)";
  Object object = made(*deployment_strategy(), spec);
  object.at("metadata").get_object()["name"] = "a.b";
  const Texts name{
      "metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: "
      "[must not contain dots]"};
  EXPECT_EQ(deployment_strategy()->warnings(object, nullptr), name);
  EXPECT_EQ(replica_set_strategy()->warnings(object, nullptr), name);
  EXPECT_EQ(deployment_strategy()->warnings(object, &object), Texts{});
  EXPECT_EQ(daemon_set_strategy()->warnings(object, nullptr), Texts{});
  const Texts history{"spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended"};
  EXPECT_EQ(stateful_set_strategy()->warnings(object, nullptr), history);
  EXPECT_EQ(stateful_set_strategy()->warnings(object, &object), history);
}

TEST(ReplicaSets, AreNotSelectedByTheirCount) { EXPECT_TRUE(replica_set_strategy()->selectable_fields().empty()); }

TEST(ControllerRevisions, KeepTheirData) {
  const auto strategy = controller_revision_strategy();
  RequestContext context;
  FieldErrors errors;
  strategy->validate(context, parse(R"({"revision":-1})"), errors);
  EXPECT_EQ(errors.aggregate_message(),
            "[data: Required value: data is mandatory, revision: Invalid value: -1: must be greater than or equal to 0]");
}

}  // namespace
}  // namespace backplane::apps
