#include "quota/pod_changes.hpp"

#include <gtest/gtest.h>

namespace backplane::controllers {
namespace {

Object pod(std::int64_t generation, const char* cpu = "1") {
  return {{"metadata", Object{{"name", "p"}, {"generation", generation}}},
          {"status", Object{{"containerStatuses", Array{Object{{"resources", Object{{"requests", Object{{"cpu", cpu}}}}}}}}}}};
}

// Regression: a pod that got a deadline was counted in its new scope only five minutes later.
TEST(PodChanges, AnotherSpecificationIsAChange) {
  PodChanges changes;
  EXPECT_FALSE(changes.note("n/p", pod(1))) << "new";
  EXPECT_FALSE(changes.note("n/p", pod(1, "2"))) << "the status of a pod whose specification has never changed";
  EXPECT_TRUE(changes.note("n/p", pod(2)));
  EXPECT_FALSE(changes.note("n/p", pod(2))) << "nothing that is counted";
  EXPECT_TRUE(changes.note("n/p", pod(3)));
}

TEST(PodChanges, TheResourcesOfContainersAfterAResizeAreAChange) {
  PodChanges changes;
  EXPECT_TRUE(changes.note("n/p", pod(2)));
  EXPECT_TRUE(changes.note("n/p", pod(2, "500m")));
  EXPECT_FALSE(changes.note("n/p", pod(2, "500m")));
}

// Regression: a pod that was deleted while the watch was interrupted was counted until the controller restarted.
TEST(PodChanges, AListForgetsThePodsThatItDoesNotHave) {
  PodChanges changes;
  changes.begin_list();
  changes.note("n/p", pod(2));
  changes.note("n/q", pod(2));
  changes.end_list();
  changes.note("n/r", pod(2));
  EXPECT_EQ(changes.size(), 3u);
  changes.begin_list();
  EXPECT_FALSE(changes.note("n/p", pod(2)));
  EXPECT_TRUE(changes.note("n/s", pod(2)));
  EXPECT_FALSE(changes.note("n/q", pod(1))) << "another pod with the name of one that is gone";
  EXPECT_EQ(changes.size(), 4u) << "until the list is complete";
  changes.end_list();
  EXPECT_EQ(changes.size(), 2u);
  EXPECT_FALSE(changes.note("n/p", pod(2)));
  EXPECT_TRUE(changes.note("n/r", pod(2)));
}

TEST(PodChanges, APodThatIsForgottenIsNew) {
  PodChanges changes;
  EXPECT_TRUE(changes.note("n/p", pod(2)));
  changes.forget("n/p");
  EXPECT_TRUE(changes.note("n/p", pod(2)));
}

}  // namespace
}  // namespace backplane::controllers
