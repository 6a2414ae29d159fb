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

const Scheme& scheme() {
  static const Scheme made = [] {
    Scheme scheme;
    EXPECT_TRUE(add_conversions(scheme).ok());
    return scheme;
  }();
  return made;
}

// As the host does it: converted, then in the canonical form of its version.
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

TEST(AutoscalerConversionTest, WhatV1CannotSayStandsInAnnotations) {
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

TEST(AutoscalerConversionTest, ThereAndBackIsTheSameObject) {
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

TEST(AutoscalerStrategyTest, FillsInWhatIsNotSaid) {
  Object object = parsed(
      R"({"metadata":{"annotations":{"autoscaling.alpha.kubernetes.io/metrics":"[]","kept":"yes"}},"spec":{"behavior":{"scaleDown":{"selectPolicy":"Min"}}}})");
  autoscaling_group()->kind("HorizontalPodAutoscaler").strategy()->apply_defaults(object);
  const Object once = object;
  autoscaling_group()->kind("HorizontalPodAutoscaler").strategy()->apply_defaults(object);
  EXPECT_EQ(object, once);
  EXPECT_EQ(object, parsed(R"({"metadata":{"annotations":{"kept":"yes"}},"spec":{"minReplicas":1,
    "metrics":[{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":80}}}],
    "behavior":{"scaleUp":{"stabilizationWindowSeconds":0,"selectPolicy":"Max","policies":[{"type":"Pods","value":4,"periodSeconds":15},
      {"type":"Percent","value":100,"periodSeconds":15}]},
      "scaleDown":{"selectPolicy":"Min","policies":[{"type":"Percent","value":100,"periodSeconds":15}]}}}})"));
}

std::string problems_of(const std::string& spec) {
  FieldErrors errors;
  validate_autoscaler(parsed(R"({"spec":)" + spec + "}"), nullptr, errors);
  return errors.aggregate_message();
}

TEST(AutoscalerStrategyTest, AMetricHasTheSourceItNamesAndNoOther) {
  const std::string target = R"("maxReplicas":3,"scaleTargetRef":{"kind":"Deployment","name":"d","apiVersion":"apps/v1"})";
  EXPECT_EQ(problems_of("{" + target + "}"), "");
  EXPECT_EQ(problems_of("{" + target + R"(,"metrics":[{"type":"Pods","resource":{"name":"cpu","target":{"type":"Value","averageValue":"1"}},
    "external":{"metric":{"name":"q"},"target":{"type":"Value","value":"1"}}}]})"),
            "[spec.metrics[0].pods: Required value: must populate information for the given metric source, "
            "spec.metrics[0].external: Forbidden: must populate the given metric source only, "
            "spec.metrics[0].resource: Forbidden: must populate the given metric source only]");
}

TEST(AutoscalerStrategyTest, OldZeroesAndOldVersionsAreLetThrough) {
  const Object old = parsed(R"({"spec":{"minReplicas":0,"maxReplicas":3,"scaleTargetRef":{"kind":"D","name":"d","apiVersion":"wrong"},
    "metrics":[{"type":"External","external":{"metric":{"name":"q"},"target":{"type":"Value","value":"1"}}}]}})");
  FieldErrors fresh, changed;
  validate_autoscaler(old, nullptr, fresh);
  EXPECT_EQ(fresh.size(), 2u) << fresh.aggregate_message();
  validate_autoscaler(old, &old, changed);
  EXPECT_EQ(changed.aggregate_message(), "");
}

TEST(AutoscalerTableTest, ShowsTwoMetricsAndCountsTheOthers) {
  const Array cells = autoscaling_group()->kind("HorizontalPodAutoscaler").strategy()->table_convertor().cells(parsed(kEverything), 0, {});
  EXPECT_EQ(cells[1], "Deployment/d");
  EXPECT_EQ(cells[2], "<unknown>/10, <unknown>/2k + 3 more...");
  EXPECT_EQ(cells[3], "2");
}

}  // namespace
}  // namespace backplane::autoscaling
