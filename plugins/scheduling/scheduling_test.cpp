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

TEST(PriorityClasses, OfPeopleStayBelowTheSystems) {
  EXPECT_EQ(problems("a", R"("value":1000000000)"), "");
  EXPECT_EQ(problems("a", R"("value":1000000001)"), "value: Forbidden: maximum allowed value of a user defined priority is 1000000000");
}

TEST(PriorityClasses, OfTheSystemAreAsItHasThem) {
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
  EXPECT_EQ(get_int_path(old, "metadata.generation"), 1);
  Object now = made("a", R"("value":2,"preemptionPolicy":"x")");
  EXPECT_EQ(priority_class().change_problems(now, old),
            R"([preemptionPolicy: Invalid value: "x": field is immutable, value: Forbidden: may not be changed in an update.])");
}

}  // namespace
}  // namespace backplane::scheduling
