#include <gtest/gtest.h>

#include "kind_under_test.hpp"
#include "kinds.hpp"

namespace backplane::scheduling {
namespace {

testing::KindUnderTest priority_class() {
  static const auto sets = scheduling_schemas();
  return testing::KindUnderTest(scheduling_group()->kind("PriorityClass"), *sets->front(), "scheduling.k8s.io");
}
Object made(std::string_view name, std::string_view rest) {
  return priority_class().created(R"({"metadata":{"name":")" + std::string(name) + "\"}," + std::string(rest) + "}");
}
std::string problems(std::string_view name, std::string_view rest) { return priority_class().problems(made(name, rest)); }

TEST(PriorityClasses, UserDefinedValuesHaveAMaximum) {
  EXPECT_EQ(problems("a", R"("value":1000000000)"), "");
  EXPECT_EQ(problems("a", R"("value":1000000001)"), "value: Forbidden: maximum allowed value of a user defined priority is 1000000000");
}

TEST(PriorityClasses, SystemClassesHaveFixedValues) {
  const std::string reserved =
      "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: ";
  EXPECT_EQ(problems("system-node-critical", R"("value":2000001000)"), "");
  EXPECT_EQ(problems("system-cluster-critical", R"("value":1)"),
            reserved + "value of system-cluster-critical PriorityClass must be 2000000000");
  EXPECT_EQ(problems("system-cluster-critical", R"("value":2000000000,"globalDefault":true)"),
            reserved + "globalDefault of system-cluster-critical PriorityClass must be false");
  EXPECT_EQ(problems("system-mine", R"("value":1)"), reserved + "system-mine is not a known system priority class");
}

TEST(PriorityClasses, KeepTheirValue) {
  const Object old = made("a", R"("value":1)");
  EXPECT_TRUE(scheduling_group()->kind("PriorityClass").strategy()->facts().generation) << "the first stays, as nothing of it may change";
  Object now = made("a", R"("value":2,"preemptionPolicy":"x")");
  EXPECT_EQ(priority_class().change_problems(now, old),
            R"([value: Forbidden: may not be changed in an update., preemptionPolicy: Invalid value: "x": field is immutable])");
}

TEST(PodGroups, ShowTheDefaultThatTheirGateTakesAway) {
  Object group = json::parse(R"({"spec":{"schedulingPolicy":{"basic":{}}}})").as_object();
  scheduling_group()->kind("PodGroup").strategy()->canonicalize(group);
  EXPECT_EQ(get_string_path(group, "spec.disruptionMode"), "Pod");
}

struct Alpha {
  explicit Alpha(std::string_view kind) : row(scheduling_group()->kind(kind)) {
    static const auto sets = scheduling_schemas();
    schema = sets->back()->find(GroupVersionKind{"scheduling.k8s.io", "v1alpha2", row.kind});
  }
  Object object(std::string_view spec) const {
    Value value = json::parse(R"({"metadata":{"name":"a","namespace":"n"},"spec":)" + std::string(spec) + "}");
    EXPECT_TRUE(schema->normalize(value, nullptr).ok());
    return value.get_object();
  }
  std::string problems(std::string_view spec) const {
    FieldErrors errors;
    RequestContext context;
    const Object now = object(spec);
    schema->check(now, nullptr, ObjectPart::kWithoutStatus, "", errors);
    row.strategy()->validate(context, now, errors);
    return errors.empty() ? "" : errors.aggregate_message();
  }
  std::string change_problems(std::string_view spec, std::string_view before) const {
    FieldErrors errors;
    const Object now = object(spec), old = object(before);
    schema->check(now, &old, ObjectPart::kWithoutStatus, "", errors);
    return errors.empty() ? "" : errors.aggregate_message();
  }
  kit::KindRow row;
  const Schema* schema = nullptr;
};

TEST(PodGroups, HaveOnePolicyThatStays) {
  const Alpha group("PodGroup");
  EXPECT_EQ(group.problems(R"({"schedulingPolicy":{"gang":{"minCount":2}}})"), "");
  EXPECT_EQ(group.problems("{}"), R"(spec.schedulingPolicy: Invalid value: "": must specify one of: `basic`, `gang`)");
  EXPECT_EQ(group.problems(R"({"schedulingPolicy":{"basic":{},"gang":{"minCount":1}}})"),
            R"(spec.schedulingPolicy: Invalid value: "{basic, gang}": must specify exactly one of: `basic`, `gang`)");
  EXPECT_EQ(group.problems(R"({"schedulingPolicy":{"gang":{"minCount":-1}}})"),
            "spec.schedulingPolicy.gang.minCount: Invalid value: -1: must be greater than or equal to 1");
  EXPECT_EQ(group.change_problems(R"({"schedulingPolicy":{"gang":{"minCount":-1}}})", R"({"schedulingPolicy":{"gang":{"minCount":1}}})"),
            "spec.schedulingPolicy: Invalid value: null: field is immutable");
}

TEST(Workloads, NameTheirTemplates) {
  const Alpha workload("Workload");
  EXPECT_EQ(workload.problems("{}"), "spec.podGroupTemplates: Required value");
  EXPECT_EQ(workload.problems(
                R"({"podGroupTemplates":[{"name":"a","schedulingPolicy":{"basic":{}}},{"name":"a","schedulingPolicy":{"basic":{}}}]})"),
            R"(spec.podGroupTemplates[1]: Duplicate value: {"name":"a","schedulingPolicy":{"basic":{}},"schedulingConstraints":null})");
}

}  // namespace
}  // namespace backplane::scheduling
