#include "objects/objects_test_kit.hpp"
#include "pods/rows.hpp"

namespace backplane::admission::test {
namespace {

const GroupVersionKind kClass{"scheduling.k8s.io", "v1", "PriorityClass"};

class PriorityTest : public ::testing::Test {
 protected:
  explicit PriorityTest(std::vector<std::string> gates = {}) : under_(gates) {
    under_.store(kClass, "priorityclasses");
    under_.make(pod_plugins(), "Priority");
    under_.start();
  }
  void add_class(std::string_view rest) { under_.put(kClass, "priorityclasses", R"({"metadata":{"name":)" + std::string(rest) + "}"); }
  PluginUnderTest under_;
};

TEST_F(PriorityTest, APodWithoutClassGetsZeroWhileThereIsNoDefaultClass) {
  add_class(R"("other"},"value":2000)");
  PodUnderTest pod("{}");
  EXPECT_TRUE(under_.admit(pod.attributes).ok());
  EXPECT_EQ(pod.member("spec"), R"({"priority":0,"preemptionPolicy":"PreemptLowerPriority"})");
}

TEST_F(PriorityTest, OfSeveralDefaultClassesTheLowestOneIsTaken) {
  add_class(R"("high"},"value":2000,"globalDefault":true)");
  add_class(R"("low"},"value":1000,"globalDefault":true,"preemptionPolicy":"Never")");
  PodUnderTest pod("{}");
  EXPECT_TRUE(under_.admit(pod.attributes).ok());
  EXPECT_EQ(pod.member("spec"), R"({"priorityClassName":"low","priority":1000,"preemptionPolicy":"Never"})");
}

struct PriorityCase {
  std::string_view spec;
  std::string_view answer;  // the error, or the spec
};

TEST_F(PriorityTest, AClassSetsPriorityAndPolicyAndRefusesOthers) {
  add_class(R"("default1"},"value":1000)");
  add_class(R"("never"},"value":2000,"preemptionPolicy":"Never")");
  add_class(R"("system-cluster-critical"},"value":2000000000)");
  const std::string forbidden = "pods \"p\" is forbidden: ";
  const PriorityCase cases[] = {
      {R"({"priorityClassName":"default1"})", R"({"priorityClassName":"default1","priority":1000})"},
      {R"({"priorityClassName":"default1","priority":1000})", R"({"priorityClassName":"default1","priority":1000})"},
      {R"({"priorityClassName":"default1","priority":5})",
       "the integer value of priority (5) must not be provided in pod spec; priority admission controller computed 1000 from the given "
       "PriorityClass name"},
      {R"({"priorityClassName":"system-cluster-critical"})", R"({"priorityClassName":"system-cluster-critical","priority":2000000000})"},
      {R"({"priorityClassName":"missing"})", "no PriorityClass with name missing was found"},
      {R"({"priorityClassName":"never","preemptionPolicy":"Never"})",
       R"({"priorityClassName":"never","preemptionPolicy":"Never","priority":2000})"},
      {R"({"priorityClassName":"never","preemptionPolicy":"PreemptLowerPriority"})",
       "the string value of PreemptionPolicy (PreemptLowerPriority) must not be provided in pod spec; priority admission controller "
       "computed "
       "Never from the given PriorityClass name"},
      {R"({"priority":7})",
       "the integer value of priority (7) must not be provided in pod spec; priority admission controller computed 0 from the given "
       "PriorityClass name"},
  };
  for (const PriorityCase& each : cases) {
    PodUnderTest pod(each.spec);
    const Status status = under_.admit(pod.attributes);
    EXPECT_EQ(status.ok() ? pod.member("spec") : status.message(), (status.ok() ? "" : forbidden) + std::string(each.answer)) << each.spec;
  }
}

TEST_F(PriorityTest, AnUpdateKeepsWhatItLeavesOut) {
  PodUnderTest pod("{}", R"({"priority":3,"preemptionPolicy":"Never"})");
  EXPECT_TRUE(under_.admit(pod.attributes).ok());
  EXPECT_EQ(pod.member("spec"), R"({"priority":3,"preemptionPolicy":"Never"})");
}

TEST_F(PriorityTest, ThereIsOneDefaultClass) {
  add_class(R"("first"},"value":1,"globalDefault":true)");
  const std::string second = R"({"metadata":{"name":"second"},"value":2,"globalDefault":true})";
  const std::string first = R"({"metadata":{"name":"first"},"value":1,"globalDefault":true})";
  WriteUnderTest created(kClass, "priorityclasses", second);
  EXPECT_EQ(
      under_.validate(created.attributes).message(),
      "priorityclasses.scheduling.k8s.io \"second\" is forbidden: PriorityClass first is already marked as default. Only one default can "
      "exist");
  WriteUnderTest updated(kClass, "priorityclasses", second, second);
  EXPECT_EQ(under_.validate(updated.attributes).reason(), Reason::kForbidden);
  WriteUnderTest same(kClass, "priorityclasses", first, first);
  EXPECT_TRUE(under_.validate(same.attributes).ok());
}

TEST_F(PriorityTest, AClassThatIsGoneIsNotFound) {
  add_class(R"("brief"},"value":1)");
  under_.store(kClass, "priorityclasses").erase("brief");
  under_.host.turns.run_until_idle();
  PodUnderTest pod(R"({"priorityClassName":"brief"})");
  EXPECT_EQ(under_.admit(pod.attributes).reason(), Reason::kForbidden);
}

TEST(PriorityOfGroups, IsSetWhileTheGateIsOn) {
  for (const bool on : {false, true}) {
    PluginUnderTest under(on ? std::vector<std::string>{"WorkloadAwarePreemption"} : std::vector<std::string>());
    under.store(kClass, "priorityclasses");
    under.make(pod_plugins(), "Priority");
    under.start();
    under.put(kClass, "priorityclasses", R"({"metadata":{"name":"high"},"value":9})");
    WriteUnderTest group({"scheduling.k8s.io", "v1alpha2", "PodGroup"}, "podgroups",
                         R"({"metadata":{"name":"g"},"spec":{"priorityClassName":"high","priority":8}})");
    EXPECT_EQ(under.admit(group.attributes).message(),
              on ? "podgroups.scheduling.k8s.io \"g\" is forbidden: priority set in the pod group (8) must match the priority computed (9) "
                   "based on the priority class set in the spec"
                 : "");
  }
}

}  // namespace
}  // namespace backplane::admission::test
