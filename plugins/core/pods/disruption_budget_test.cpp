#include "pods/disruption_budget.hpp"

#include <gtest/gtest.h>

namespace backplane::core {
namespace {

Object parse(std::string_view text) { return json::parse(json::string_view(text.data(), text.size())).get_object(); }

Object budget(std::string_view status, std::string_view spec = R"({"selector":{"matchLabels":{"a":"b"}}})") {
  return parse(R"({"metadata":{"name":"pdb","namespace":"n","generation":2},"spec":)" + std::string(spec) + R"(,"status":)" +
               std::string(status) + "}");
}
Object pod(std::string_view labels) { return parse(R"({"metadata":{"name":"p","namespace":"n","labels":)" + std::string(labels) + "}}"); }

std::string cause_of(const Status& status) {
  return status.details() == nullptr || status.details()->causes.empty() ? "" : status.details()->causes[0].message;
}

TEST(DisruptionBudgets, TakeThePodsOfTheirSelector) {
  EXPECT_TRUE(covers(budget("{}"), pod(R"({"a":"b","c":"d"})")));
  EXPECT_FALSE(covers(budget("{}"), pod(R"({"a":"c"})")));
  EXPECT_TRUE(covers(budget("{}", R"({"selector":{}})"), pod("{}"))) << "an empty selector takes all pods";
  EXPECT_FALSE(covers(budget("{}", "{}"), pod(R"({"a":"b"})"))) << "a missing one takes none";
  const std::string_view unreadable = R"({"selector":{"matchExpressions":[{"key":"a","operator":"Odd"}]}})";
  EXPECT_FALSE(covers(budget("{}", unreadable), pod(R"({"a":"b"})")));
}

TEST(DisruptionBudgets, CountTheDisruptionsTheyAllow) {
  Object two = budget(R"({"observedGeneration":2,"disruptionsAllowed":2})");
  EXPECT_TRUE(take_disruption(two, "p").ok());
  EXPECT_EQ(get_int_path(two, "status.disruptionsAllowed"), 1);
  EXPECT_NE(find_path(two, "status.disruptedPods.p"), nullptr);
  EXPECT_EQ(find_path(two, "status.conditions"), nullptr);
  EXPECT_TRUE(take_disruption(two, "q").ok());
  EXPECT_EQ(get_int_path(two, "status.disruptionsAllowed"), 0);
  const Object& condition = find_path(two, "status.conditions")->get_array().at(0).get_object();
  EXPECT_EQ(get_string(condition, "type"), "DisruptionAllowed");
  EXPECT_EQ(get_string(condition, "status"), "False");
  EXPECT_EQ(get_string(condition, "reason"), "InsufficientPods");
  EXPECT_EQ(get_int(condition, "observedGeneration"), 2);
  const Status third = take_disruption(two, "r");
  EXPECT_EQ(third.code(), 429);
  EXPECT_EQ(find_path(two, "status.disruptedPods.r"), nullptr);
}

TEST(DisruptionBudgets, SayWhyTheyAllowNone) {
  const auto refused = [](std::string_view status) {
    Object empty = budget(R"({"observedGeneration":2,"disruptionsAllowed":0,)" + std::string(status) + "}");
    return cause_of(take_disruption(empty, "p"));
  };
  EXPECT_EQ(refused(R"("currentHealthy":1,"desiredHealthy":2)"), "The disruption budget pdb needs 2 healthy pods and has 1 currently");
  EXPECT_EQ(refused(R"("currentHealthy":3,"desiredHealthy":2)"), "The disruption budget pdb does not allow evicting pods currently");
  const std::string explained =
      R"("currentHealthy":3,"desiredHealthy":2,"conditions":[{"type":"DisruptionAllowed","status":"False","reason":")";
  EXPECT_EQ(refused(explained + R"(Why","message":"because"}])"),
            "The disruption budget pdb does not allow evicting pods currently (Why): because");
  EXPECT_EQ(refused(explained + R"(SyncFailed","message":"because"}])"),
            "The disruption budget pdb does not allow evicting pods currently because it failed sync: because");
}

TEST(DisruptionBudgets, EvictionsGet429IfTheStatusIsOutOfDate) {
  Object old = budget(R"({"observedGeneration":1,"disruptionsAllowed":5})");
  const Status refused = take_disruption(old, "p");
  EXPECT_EQ(refused.code(), 429);
  EXPECT_EQ(refused.details()->retry_after_seconds, 10);
  EXPECT_EQ(cause_of(refused), "The disruption budget pdb is still being processed by the server.");
  EXPECT_EQ(get_int_path(old, "status.disruptionsAllowed"), 5);
  Object odd = budget(R"({"observedGeneration":2,"disruptionsAllowed":-1})");
  EXPECT_EQ(take_disruption(odd, "p").message(), "poddisruptionbudget.policy \"pdb\" is forbidden: pdb disruptions allowed is negative");
}

TEST(DisruptionBudgets, LetUnreadyPodsGoWhileEnoughOthersAreReady) {
  EXPECT_TRUE(allows_unready_eviction(budget(R"({"currentHealthy":2,"desiredHealthy":2})")));
  EXPECT_FALSE(allows_unready_eviction(budget(R"({"currentHealthy":1,"desiredHealthy":2})")));
  EXPECT_FALSE(allows_unready_eviction(budget(R"({"currentHealthy":0,"desiredHealthy":0})"))) << "nothing is known yet";
  EXPECT_TRUE(allows_unready_eviction(budget("{}", R"({"unhealthyPodEvictionPolicy":"AlwaysAllow"})")));
  EXPECT_TRUE(is_ready(parse(R"({"status":{"conditions":[{"type":"Ready","status":"True"}]}})")));
  EXPECT_FALSE(is_ready(parse(R"({"status":{"conditions":[{"type":"Ready","status":"False"}]}})")));
}

}  // namespace
}  // namespace backplane::core
