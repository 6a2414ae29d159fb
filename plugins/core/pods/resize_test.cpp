#include <gtest/gtest.h>

#include "kind_under_test.hpp"
#include "kinds/kinds.hpp"
#include "pods/resize.hpp"

namespace backplane::core {
namespace {

Object pod_of(std::string_view resources, std::string_view more = {}) {
  const testing::KindUnderTest kind(core_group()->kind("Pod"), *core_schemas(), "");
  return kind.created(R"({"metadata":{"name":"p","namespace":"n"},"spec":{"containers":[{"name":"c","image":"i","resources":)" +
                      std::string(resources) + "}]" + std::string(more) + "}}");
}

// The errors of an update from `old` to `now`, and the resulting object.
struct Resized {
  Object object;
  std::string problems;
};
Resized resized(const Object& now, const Object& old, ResizeGates gates = {}) {
  Resized out{now, {}};
  RequestContext context;
  const auto strategy = pod_resize_strategy({}, gates);
  strategy->prepare_for_update(context, out.object, old);
  FieldErrors errors;
  strategy->validate_update(context, out.object, old, errors);
  out.problems = errors.empty() ? "" : errors.aggregate_message();
  return out;
}

constexpr std::string_view kSmall = R"({"requests":{"cpu":"1"},"limits":{"cpu":"2"}})";

TEST(Resize, ChangesWhatContainersAskForAndNothingElse) {
  const Object old = pod_of(kSmall);
  Object now = pod_of(R"({"requests":{"cpu":"2"},"limits":{"cpu":"3"}})", R"(,"nodeName":"n1")");
  now.at("metadata").get_object()["labels"] = Object{{"a", "b"}};
  const Resized after = resized(now, old);
  EXPECT_EQ(after.problems, "");
  EXPECT_EQ(to_json(*find_path(after.object, "spec.containers")), to_json(*find_path(now, "spec.containers")));
  EXPECT_EQ(find_path(after.object, "spec.nodeName"), nullptr);
  EXPECT_EQ(find_path(after.object, "metadata.labels"), nullptr);
}

TEST(Resize, KeepsTheQualityOfService) {
  EXPECT_EQ(resized(pod_of(R"({"requests":{"cpu":"2"}})"), pod_of("{}")).problems,
            R"(spec: Invalid value: "BestEffort": Pod QOS Class may not change as a result of resizing)");
}

TEST(Resize, TakesNothingAway) {
  EXPECT_EQ(resized(pod_of(R"({"requests":{"cpu":"1"}})"), pod_of(kSmall)).problems,
            "spec.containers[0].resources.limits: Forbidden: resource limits cannot be removed");
}

TEST(Resize, IsAboutProcessorAndMemory) {
  EXPECT_EQ(resized(pod_of(R"({"requests":{"cpu":"1","example.com/gpu":"1"},"limits":{"cpu":"2","example.com/gpu":"1"}})"), pod_of(kSmall))
                .problems,
            "spec: Forbidden: only cpu and memory resources are mutable");
}

TEST(Resize, KnowsContainersByTheirNames) {
  Object now = pod_of(kSmall);
  now.at("spec").get_object().at("containers").get_array()[0].get_object()["name"] = "d";
  EXPECT_EQ(resized(now, pod_of(kSmall)).problems,
            "spec.containers[0].name: Forbidden: containers may not be renamed or reordered on resize");
}

TEST(Resize, LeavesPodsThatAFileMadeAlone) {
  Object old = pod_of(kSmall);
  old.at("metadata").get_object()["annotations"] = Object{{"kubernetes.io/config.mirror", "x"}};
  EXPECT_EQ(resized(pod_of(R"({"requests":{"cpu":"2"},"limits":{"cpu":"3"}})"), old).problems,
            "[]: Forbidden: static pods cannot be resized");
}

TEST(Resize, OfAPodAndOfInitContainersNeedsItsGate) {
  constexpr std::string_view kSized = R"(,"resources":{"requests":{"cpu":"4"},"limits":{"cpu":"5"}})";
  constexpr std::string_view kGrown = R"(,"resources":{"requests":{"cpu":"4"},"limits":{"cpu":"6"}})";
  EXPECT_EQ(resized(pod_of(kSmall, kGrown), pod_of(kSmall, kSized)).problems, "");
  const Resized refused = resized(pod_of(kSmall, kGrown), pod_of(kSmall, kSized), {.pod_level = false});
  EXPECT_EQ(refused.problems,
            "<nil>: Forbidden: resize of pods with pod-level resources is forbidden when InPlacePodLevelResourcesVerticalScalingEnabled "
            "feature gate is disabled");
  EXPECT_EQ(get_string_path(refused.object, "spec.resources.limits.cpu"), "5");
  EXPECT_EQ(resized(pod_of(kSmall, kSized), pod_of(kSmall), {.pod_level = false}).problems, "") << "what is sent is not taken";

  const auto with_init = [](std::string_view cpu, std::string_view policy) {
    return pod_of(kSmall, R"(,"initContainers":[{"name":"i","image":"i",)" + std::string(policy) + R"("resources":{"requests":{"cpu":")" +
                              std::string(cpu) + R"("},"limits":{"cpu":"2"}}}])");
  };
  constexpr std::string_view kSidecar = R"("restartPolicy":"Always",)";
  EXPECT_EQ(resized(with_init("2", ""), with_init("1", "")).problems, "");
  EXPECT_EQ(resized(with_init("2", ""), with_init("1", ""), {.init_containers = false}).problems,
            "spec: Forbidden: resources for non-sidecar init containers are immutable");
  EXPECT_EQ(resized(with_init("1", ""), with_init("1", ""), {.init_containers = false}).problems, "");
  EXPECT_EQ(resized(with_init("2", kSidecar), with_init("1", kSidecar), {.init_containers = false}).problems, "");
}

}  // namespace
}  // namespace backplane::core
