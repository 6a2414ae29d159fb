#include <gtest/gtest.h>

#include <array>

#include "autoscaling_v1_json.hpp"
#include "autoscaling_v2_json.hpp"
#include "conversion.hpp"
#include "strategy.hpp"

namespace backplane::autoscaling {
namespace {

Object parsed(const std::string& text) { return json::parse(text).as_object(); }

const SchemaSet& schemas() {
  static const auto set = [] {
    const std::array<std::string_view, 2> documents = {autoscaling_v1_json(), autoscaling_v2_json()};
    auto made = SchemaSet::embedded(documents);
    EXPECT_TRUE(made.ok()) << made.status().message();
    return *made;
  }();
  return *set;
}

Result<kit::GroupDocument> group(bool scale_to_zero = false) {
  return autoscaling_group({std::shared_ptr<const SchemaSet>(), &schemas()}, scale_to_zero);
}

const Scheme& scheme() {
  static const Scheme made = [] {
    Scheme scheme;
    EXPECT_TRUE(add_conversions(scheme).ok());
    return scheme;
  }();
  return made;
}

// Like the host: converts the object, then makes it canonical.
Object convert(const GroupVersionKind& from, const GroupVersionKind& to, Object object) {
  EXPECT_TRUE(scheme().convert(from, to, object).ok());
  Value whole(std::move(object));
  const Status shaped = schemas().find(to)->normalize(whole, nullptr);
  EXPECT_TRUE(shaped.ok()) << shaped.message();
  return std::move(whole.get_object());
}

const char* const kEverything = R"({"kind":"HorizontalPodAutoscaler","apiVersion":"autoscaling/v2","metadata":{"name":"h"},
  "spec":{"scaleTargetRef":{"kind":"Deployment","name":"d","apiVersion":"apps/v1"},"minReplicas":2,"maxReplicas":10,"metrics":[
    {"type":"Pods","pods":{"metric":{"name":"qps","selector":{"matchLabels":{"a":"b"}}},"target":{"type":"AverageValue","averageValue":"10"}}},
    {"type":"Object","object":{"describedObject":{"kind":"Ingress","name":"i","apiVersion":"networking.k8s.io/v1"},
      "target":{"type":"Value","value":"2k"},"metric":{"name":"rps"}}},
    {"type":"External","external":{"metric":{"name":"queue"},"target":{"type":"AverageValue","averageValue":"30"}}},
    {"type":"ContainerResource","containerResource":{"name":"memory","target":{"type":"Utilization","averageUtilization":60},"container":"c"}},
    {"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":70}}}],
    "behavior":{"scaleUp":{"stabilizationWindowSeconds":0,"selectPolicy":"Max","policies":[{"type":"Pods","value":4,"periodSeconds":15}]},
      "scaleDown":{"selectPolicy":"Min","policies":[{"type":"Percent","value":10,"periodSeconds":60}]}}},
  "status":{"currentReplicas":1,"desiredReplicas":2,"currentMetrics":[
      {"type":"Resource","resource":{"name":"cpu","current":{"averageValue":"100m","averageUtilization":50}}}],
    "conditions":[{"type":"AbleToScale","status":"True","lastTransitionTime":null}]}})";

TEST(AutoscalerConversionTest, MembersThatV1LacksBecomeAnnotations) {
  const Object v1 = convert(kStored, kServed, parsed(kEverything));
  EXPECT_EQ(get_int_path(v1, "spec.targetCPUUtilizationPercentage"), 70);
  EXPECT_EQ(get_int_path(v1, "status.currentCPUUtilizationPercentage"), 50);
  const Object& annotations = *get_object(*get_object(v1, "metadata"), "annotations");
  EXPECT_EQ(get_string(annotations, "autoscaling.alpha.kubernetes.io/metrics"),
            R"([{"type":"Pods","pods":{"metricName":"qps","targetAverageValue":"10","selector":{"matchLabels":{"a":"b"}}}},)"
            R"({"type":"Object","object":{"target":{"kind":"Ingress","name":"i","apiVersion":"networking.k8s.io/v1"},"metricName":"rps",)"
            R"("targetValue":"2k"}},{"type":"External","external":{"metricName":"queue","targetAverageValue":"30"}},)"
            R"({"type":"ContainerResource","containerResource":{"name":"memory","targetAverageUtilization":60,"container":"c"}}])");
  EXPECT_EQ(get_string(annotations, "autoscaling.alpha.kubernetes.io/behavior"),
            R"({"ScaleUp":{"StabilizationWindowSeconds":0,"SelectPolicy":"Max","Policies":[{"Type":"Pods","Value":4,"PeriodSeconds":15}],)"
            R"("Tolerance":null},"ScaleDown":{"StabilizationWindowSeconds":null,"SelectPolicy":"Min",)"
            R"("Policies":[{"Type":"Percent","Value":10,"PeriodSeconds":60}],"Tolerance":null}})");
  EXPECT_EQ(get_string(annotations, "autoscaling.alpha.kubernetes.io/current-metrics"),
            R"([{"type":"Resource","resource":{"name":"cpu","currentAverageUtilization":50,"currentAverageValue":"100m"}}])");
  EXPECT_EQ(get_string(annotations, "autoscaling.alpha.kubernetes.io/conditions"),
            R"([{"type":"AbleToScale","status":"True","lastTransitionTime":null}])");
}

// managedFields: the writer of the percentage owns the annotations.
TEST(AutoscalerConversionTest, WhatIsWrittenAsV1IsShownWithItsAnnotations) {
  Object v1 = parsed(R"({"apiVersion":"autoscaling/v1","metadata":{"name":"h"},"spec":{"maxReplicas":3,"targetCPUUtilizationPercentage":80},
    "status":{"currentReplicas":1,"desiredReplicas":1,"currentCPUUtilizationPercentage":50}})");
  show_carried_annotations(v1);
  EXPECT_EQ(get_int_path(v1, "status.currentCPUUtilizationPercentage"), 50);
  EXPECT_EQ(get_int_path(v1, "spec.targetCPUUtilizationPercentage"), 80);
  EXPECT_EQ(get_object(*get_object(v1, "metadata"), "annotations")->size(), 1U);
  Object v2 = parsed(R"({"apiVersion":"autoscaling/v2","metadata":{"name":"h"}})");
  const Object before(v2);
  show_carried_annotations(v2);
  EXPECT_EQ(v2, before);
}

TEST(AutoscalerConversionTest, ARoundTripReturnsTheSameObject) {
  Value whole(parsed(kEverything));
  ASSERT_TRUE(schemas().find(kStored)->normalize(whole, nullptr).ok());
  Object v1 = convert(kStored, kServed, Object(whole.get_object()));
  EXPECT_EQ(to_json(convert(kServed, kStored, std::move(v1))), to_json(whole));
}

TEST(AutoscalerConversionTest, AnAnnotationThatCannotBeReadIsLeftOut) {
  const Object v2 = convert(kServed, kStored,
                            parsed(R"({"kind":"HorizontalPodAutoscaler","apiVersion":"autoscaling/v1","metadata":{"name":"h","annotations":{
    "autoscaling.alpha.kubernetes.io/metrics":"nonsense","autoscaling.alpha.kubernetes.io/behavior":"[]"}},"spec":{"maxReplicas":3}})"));
  EXPECT_EQ(find(*get_object(v2, "metadata"), "annotations"), nullptr);
  EXPECT_EQ(find(*get_object(v2, "spec"), "behavior"), nullptr);
}

TEST(AutoscalerConversionTest, V1HasTheDefaultsOfV2) {
  Value v1 = parsed(R"({"kind":"HorizontalPodAutoscaler","apiVersion":"autoscaling/v1","metadata":{"name":"h"},"spec":{"maxReplicas":3}})");
  schemas().find(kServed)->apply_defaults(v1);
  const Object v2 = convert(kServed, kStored, std::move(v1.get_object()));
  EXPECT_EQ(get_int_path(v2, "spec.minReplicas"), 1);
  EXPECT_EQ(to_json(*find_path(v2, "spec.metrics")),
            R"([{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":80}}}])");
}

TEST(AutoscalerStrategyTest, AStatusWithoutMetricsHasNoListOfThem) {
  const auto row = group()->kind("HorizontalPodAutoscaler");
  Object object = parsed(R"({"status":{"currentReplicas":1,"currentMetrics":[]}})");
  row.status_strategy(row.strategy())->canonicalize(object);
  EXPECT_EQ(to_json(object), R"({"status":{"currentReplicas":1,"currentMetrics":null}})");
}

TEST(AutoscalerStrategyTest, FillsInWhatIsNotSaid) {
  Object object = parsed(
      R"({"metadata":{"annotations":{"autoscaling.alpha.kubernetes.io/metrics":"[]","kept":"yes"}},"spec":{"behavior":{"scaleDown":{"selectPolicy":"Min"}}}})");
  Value whole(std::move(object));
  const auto apply = [&] {
    schemas().find(kStored)->apply_defaults(whole);
    group()->kind("HorizontalPodAutoscaler").strategy()->apply_defaults(whole.get_object());
    EXPECT_TRUE(schemas().find(kStored)->normalize(whole, nullptr).ok());  // the result replaces the input
  };
  apply();
  const Value once = whole;
  apply();
  EXPECT_EQ(whole, once);
  EXPECT_EQ(to_json(whole.at("metadata")), R"({"annotations":{"kept":"yes"}})");
  const Object& spec = whole.at("spec").get_object();
  EXPECT_EQ(to_json(spec.at("minReplicas")), "1");
  EXPECT_EQ(to_json(spec.at("metrics")),
            R"([{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":80}}}])");
  EXPECT_EQ(to_json(spec.at("behavior")),
            R"({"scaleUp":{"stabilizationWindowSeconds":0,"selectPolicy":"Max","policies":[{"type":"Pods","value":4,"periodSeconds":15},)"
            R"({"type":"Percent","value":100,"periodSeconds":15}]},)"
            R"("scaleDown":{"selectPolicy":"Min","policies":[{"type":"Percent","value":100,"periodSeconds":15}]}})");
}

std::string problems(const Object& object, const Object* old = nullptr) {
  FieldErrors errors;
  schemas().find(kStored)->check(object, old, ObjectPart::kWithoutStatus, "", errors);
  return errors.aggregate_message();
}
std::string problems_of(const std::string& spec) { return problems(parsed(R"({"spec":)" + spec + "}")); }

TEST(AutoscalerStrategyTest, AMetricHasTheSourceItNamesAndNoOther) {
  const std::string target = R"("maxReplicas":3,"scaleTargetRef":{"kind":"Deployment","name":"d","apiVersion":"apps/v1"})";
  EXPECT_EQ(problems_of("{" + target + "}"), "");
  EXPECT_EQ(problems_of("{" + target + R"(,"metrics":[{"type":"Pods","resource":{"name":"cpu","target":{"type":"Value","averageValue":"1"}},
    "external":{"metric":{"name":"q"},"target":{"type":"Value","value":"1"}}}]})"),
            "[spec.metrics[0].pods: Required value: must populate information for the given metric source, "
            "spec.metrics[0].external: Forbidden: must populate the given metric source only, "
            "spec.metrics[0].resource: Forbidden: must populate the given metric source only]");
}

// The errors of the strategy and of the stored type.
std::shared_ptr<const Strategy> strategy(bool scale_to_zero) { return group(scale_to_zero)->kind(kStored.kind).strategy(); }
std::string found(const Object& object, const Object* old, bool scale_to_zero) {
  FieldErrors errors;
  RequestContext context;
  const auto asked = strategy(scale_to_zero);
  old != nullptr ? asked->validate_update(context, object, *old, errors) : asked->validate(context, object, errors);
  return errors.aggregate_message();
}
Object autoscaler(std::string_view replicas, std::string_view kind, std::string_view version) {
  return parsed(R"({"spec":{"minReplicas":)" + std::string(replicas) + R"(,"maxReplicas":3,"scaleTargetRef":{"kind":")" +
                std::string(kind) + R"(","name":"d","apiVersion":")" + std::string(version) + R"("}}})");
}

TEST(AutoscalerStrategyTest, OldZeroesAndOldVersionsAreLetThrough) {
  const Object old = autoscaler("0", "D", "wrong");
  EXPECT_EQ(found(old, nullptr, false),
            "[spec.minReplicas: Invalid value: 0: must be greater than or equal to 1, "
            "spec.scaleTargetRef.apiVersion: Invalid value: \"wrong\": apiVersion must specify API group]");
  EXPECT_EQ(found(old, &old, false), "");
}

TEST(AutoscalerStrategyTest, ScalingToZeroHasAGate) {
  EXPECT_EQ(found(autoscaler("0", "D", "apps/v1"), nullptr, true), "");
  EXPECT_EQ(found(autoscaler("-1", "D", "apps/v1"), nullptr, true),
            "spec.minReplicas: Invalid value: -1: must be greater than or equal to 0");
}

TEST(AutoscalerStrategyTest, OnlyReplicationControllersHaveNoGroup) {
  for (const char* version : {"", "v1", "apps/v1", "/v1"}) {
    EXPECT_EQ(found(autoscaler("1", "ReplicationController", version), nullptr, false), "") << version;
  }
  const Object old = autoscaler("1", "D", "a/b/c");
  EXPECT_EQ(found(autoscaler("1", "D", "a/b/d"), &old, false),
            "spec.scaleTargetRef.apiVersion: Invalid value: \"a/b/d\": unexpected GroupVersion string: a/b/d");
  EXPECT_EQ(found(autoscaler("1", "E", "a/b/c"), &old, false),
            "spec.scaleTargetRef.apiVersion: Invalid value: \"a/b/c\": unexpected GroupVersion string: a/b/c");
}

TEST(AutoscalerStrategyTest, AnIncompleteBehaviorFromV1GetsDefaults) {
  Object object = parsed(R"({"spec":{"behavior":{"scaleDown":{"policies":[{"type":"Pods","value":1,"periodSeconds":15}]}}}})");
  strategy(false)->canonicalize(object);
  const Object& behavior = object.at("spec").at("behavior").as_object();
  EXPECT_EQ(to_json(behavior.at("scaleDown").at("selectPolicy")), "\"Max\"");
  EXPECT_EQ(to_json(behavior.at("scaleUp").at("policies")),
            R"([{"type":"Pods","value":4,"periodSeconds":15},{"type":"Percent","value":100,"periodSeconds":15}])");
}

TEST(AutoscalerStrategyTest, ErrorsOfTargetsDependOnTheSource) {
  const auto metric = [](const std::string& text) {
    return problems_of(R"({"maxReplicas":3,"scaleTargetRef":{"kind":"D","name":"d","apiVersion":"apps/v1"},"metrics":[)" + text + "]}");
  };
  EXPECT_EQ(metric(R"({"type":"Pods","pods":{"metric":{"name":"q"},"target":{"type":"AverageValue","averageValue":"-1"}}})"),
            "spec.metrics[0].pods.target.averageValue: Invalid value: \"-1\": must be positive");
  EXPECT_EQ(metric(R"({"type":"Pods","pods":{"metric":{"name":"q"},"target":{"type":"AverageValue"}}})"),
            "spec.metrics[0].pods.target.averageValue: Required value: must specify a positive target averageValue");
  EXPECT_EQ(metric(R"({"type":"External","external":{"metric":{"name":"q"},"target":{"type":"Value","value":"1","averageValue":"1"}}})"),
            "spec.metrics[0].external.target.value: Forbidden: may not set both a target value for metric and a per-pod target");
  EXPECT_EQ(metric(R"({"type":"Resource","resource":{"name":"cpu","target":{"type":"x"}}})"),
            "[spec.metrics[0].resource.target.averageUtilization: Required value: must set either a target raw value or a target "
            "utilization, spec.metrics[0].resource.target.type: Invalid value: \"x\": must be either Utilization, Value, or AverageValue]");
  EXPECT_EQ(metric(R"({"type":""})"),
            "[spec.metrics[0].type: Required value: must specify a metric source type, spec.metrics[0].type: Unsupported value: \"\": "
            "supported values: \"ContainerResource\", \"External\", \"Object\", \"Pods\", \"Resource\"]");
}

TEST(AutoscalerStrategyTest, AStatusIsAskedForItsCountsAlone) {
  const Object status = parsed(R"({"status":{"currentReplicas":-1,"desiredReplicas":2,
    "currentMetrics":[{"type":"Object","object":{"describedObject":{"kind":"","name":"a/b"},"metric":{"name":""},"current":{}}}]}})");
  FieldErrors errors;
  schemas().find(kStored)->check(status, &status, ObjectPart::kStatus, "", errors);
  EXPECT_EQ(errors.aggregate_message(), "status.currentReplicas: Invalid value: -1: must be greater than or equal to 0");
}

TEST(AutoscalerTableTest, ShowsTwoMetricsAndCountsTheOthers) {
  const Array cells = group()->kind("HorizontalPodAutoscaler").strategy()->table_convertor().cells(parsed(kEverything), 0, {});
  EXPECT_EQ(cells[1], "Deployment/d");
  EXPECT_EQ(cells[2], "<unknown>/10, <unknown>/2k + 3 more...");
  EXPECT_EQ(cells[3], "2");
}

}  // namespace
}  // namespace backplane::autoscaling
