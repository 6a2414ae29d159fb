#include <gtest/gtest.h>

#include "kind_under_test.hpp"
#include "kinds.hpp"

namespace backplane::node {
namespace {

testing::KindUnderTest runtime_class() {
  static const auto sets = node_schemas();
  return testing::KindUnderTest(node_group()->kind("RuntimeClass"), *sets->front(), "node.k8s.io");
}
std::string problems(std::string_view rest) {
  const auto kind = runtime_class();
  return kind.problems(kind.created(R"({"metadata":{"name":"a"},"handler":"runsc",)" + std::string(rest) + "}"));
}

TEST(RuntimeClasses, HoldOverheadToTheRulesOfLimits) {
  EXPECT_EQ(problems(R"("overhead":{"podFixed":{"cpu":"10m"}})"), "");
  EXPECT_EQ(problems(R"("overhead":{"podFixed":{"cpu":"-1"}})"),
            R"(overhead.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0)");
}

TEST(RuntimeClasses, KeepAmountsBelowThousandths) {
  const Object object = runtime_class().created(R"({"metadata":{"name":"a"},"handler":"h","overhead":{"podFixed":{"cpu":"0.0001"}}})");
  EXPECT_EQ(get_string_path(object, "overhead.podFixed.cpu"), "100u");
}

TEST(RuntimeClasses, NameEachTolerationOnce) {
  EXPECT_EQ(
      problems(R"("scheduling":{"tolerations":[{"key":"k","operator":"Exists","effect":"NoExecute"},
                        {"key":"k","operator":"Exists","effect":"NoExecute","tolerationSeconds":5}]})"),
      R"(scheduling.tolerations[1]: Duplicate value: {"Key":"k","Operator":"Exists","Value":"","Effect":"NoExecute","TolerationSeconds":5})");
}

TEST(RuntimeClasses, WarnOfLabelsThatAreGone) {
  const auto kind = runtime_class();
  const Object object =
      kind.created(R"({"metadata":{"name":"a"},"handler":"h","scheduling":{"nodeSelector":{"beta.kubernetes.io/os":"linux"}}})");
  EXPECT_EQ(kind.strategy().warnings(object, nullptr),
            std::vector<std::string>{R"(scheduling.nodeSelector: deprecated since v1.14; use "kubernetes.io/os" instead)"});
}

}  // namespace
}  // namespace backplane::node
