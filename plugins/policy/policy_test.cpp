#include <gtest/gtest.h>

#include "kind_under_test.hpp"
#include "policy_group_json.hpp"
#include "policy_v1_json.hpp"

namespace backplane::policy {
namespace {

const SchemaSet& schemas() {
  static const auto sets = kit::embedded_schemas({policy_v1_json()});
  return *sets->front();
}

testing::KindUnderTest budgets() {
  return testing::KindUnderTest(kit::read_group(policy_group_json())->kind("PodDisruptionBudget"), schemas(), "policy");
}

std::string problems(std::string_view spec) {
  const auto kind = budgets();
  return kind.problems(kind.created(R"({"metadata":{"name":"pdb","namespace":"n"},"spec":)" + std::string(spec) + "}"));
}

TEST(PodDisruptionBudgets, SayEitherWhatStaysOrWhatMayGo) {
  EXPECT_EQ(problems(R"({"minAvailable":"50%","selector":{}})"), "");
  EXPECT_EQ(problems(R"({"minAvailable":1,"maxUnavailable":"10%"})"),
            R"(spec: Invalid value: {"MinAvailable":1,"Selector":null,"MaxUnavailable":"10%","UnhealthyPodEvictionPolicy":null}: )"
            "minAvailable and maxUnavailable cannot be both set");
  EXPECT_EQ(problems(R"({"maxUnavailable":"101%"})"), "spec.maxUnavailable: Invalid value: \"101%\": must not be greater than 100%");
  EXPECT_EQ(problems(R"({"minAvailable":-1})"), "spec.minAvailable: Invalid value: -1: must be greater than or equal to 0");
  EXPECT_EQ(problems(R"({"unhealthyPodEvictionPolicy":"Maybe"})"),
            R"(spec.unhealthyPodEvictionPolicy: Unsupported value: "Maybe": supported values: "AlwaysAllow", "IfHealthyBudget")");
}

TEST(PodDisruptionBudgets, HaveConditionsInOrder) {
  const auto problems_of = [](std::string_view status) {
    const auto kind = budgets();
    Object object = kind.normalized(R"({"metadata":{"name":"pdb"},"status":)" + std::string(status) + "}");
    FieldErrors errors;
    schemas().find(GroupVersionKind{"policy", "v1", "PodDisruptionBudget"})->check(object, &object, ObjectPart::kStatus, "", errors);
    return errors.empty() ? "" : errors.aggregate_message();
  };
  const std::string good =
      R"({"type":"DisruptionAllowed","status":"True","reason":"Ok","lastTransitionTime":"2020-01-01T00:00:00Z","message":""})";
  EXPECT_EQ(problems_of("{\"conditions\":[" + good + "]}"), "");
  EXPECT_EQ(problems_of("{\"conditions\":[" + good + "," + good + "]}"),
            "status.conditions[1].type: Duplicate value: \"DisruptionAllowed\"");
  EXPECT_EQ(problems_of(R"({"conditions":[{"type":"A","status":"Maybe"}],"currentHealthy":-1})"),
            "[status.currentHealthy: Invalid value: -1: must be greater than or equal to 0, "
            R"(status.conditions[0].status: Unsupported value: "Maybe": supported values: "False", "True", "Unknown", )"
            "status.conditions[0].lastTransitionTime: Required value, status.conditions[0].reason: Required value]");
}

}  // namespace
}  // namespace backplane::policy
