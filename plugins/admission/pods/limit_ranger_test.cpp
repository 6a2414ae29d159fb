#include "objects/objects_test_kit.hpp"
#include "pods/limit_rules.hpp"
#include "pods/quantities.hpp"
#include "pods/rows.hpp"

namespace backplane::admission::test {
namespace {

const GroupVersionKind kLimitRange{"", "v1", "LimitRange"};

std::string range_text(std::string_view item) {
  return R"({"metadata":{"name":"limits","namespace":"default"},"spec":{"limits":[)" + std::string(item) + "]}}";
}
// Containers with these resources.
std::string containers_text(std::initializer_list<std::string_view> resources) {
  std::string out;
  int number = 0;
  for (std::string_view each : resources) {
    out += (out.empty() ? "" : ",") + (R"({"name":"foo-)" + std::to_string(number++)) + R"(","resources":)" + std::string(each) + "}";
  }
  return out;
}
std::string spec_text(std::initializer_list<std::string_view> resources, std::string_view init = {}) {
  return R"({"containers":[)" + containers_text(resources) + R"(],"initContainers":[)" + std::string(init) + "]}";
}

class LimitRangerTest : public ::testing::Test {
 protected:
  LimitRangerTest() : under_({"PodLevelResources"}) {
    under_.store(kLimitRange, "limitranges");
    under_.make(pod_plugins(), "LimitRanger");
    under_.start();
  }
  void limit(std::string_view item) { under_.put(kLimitRange, "limitranges", range_text(item)); }
  std::string problem(std::string_view spec) {
    PodUnderTest pod(spec);
    return under_.validate(pod.attributes).message();
  }
  PluginUnderTest under_;
};

constexpr std::string_view kDefaults =
    R"({"type":"Container","default":{"cpu":"75m","memory":"10Mi"},"defaultRequest":{"cpu":"50m","memory":"5Mi"}})";

TEST_F(LimitRangerTest, ContainersGetMissingResourcesAndThePodAnAnnotation) {
  limit(kDefaults);
  PodUnderTest pod(spec_text({"{}"}, R"({"name":"init","resources":{"requests":{"memory":"512Mi"}}})"));
  EXPECT_TRUE(under_.admit(pod.attributes).ok());
  EXPECT_EQ(
      pod.member("spec"),
      R"({"containers":[{"name":"foo-0","resources":{"limits":{"cpu":"75m","memory":"10Mi"},"requests":{"cpu":"50m","memory":"5Mi"}}}],)"
      R"("initContainers":[{"name":"init","resources":{"requests":{"memory":"512Mi","cpu":"50m"},"limits":{"cpu":"75m","memory":"10Mi"}}}]})");
  EXPECT_EQ(get_string(*get_object(pod.object.at("metadata").get_object(), "annotations"), "kubernetes.io/limit-ranger"),
            "LimitRanger plugin set: cpu, memory request for container foo-0; cpu, memory limit for container foo-0; cpu request for init "
            "container init; cpu, memory limit for init container init");
}

TEST_F(LimitRangerTest, APodThatHasEverythingStaysAsItIs) {
  limit(kDefaults);
  const std::string spec = spec_text({R"({"limits":{"cpu":"1","memory":"1Gi"},"requests":{"cpu":"1","memory":"1Gi"}})"});
  PodUnderTest pod(spec);
  EXPECT_TRUE(under_.admit(pod.attributes).ok());
  EXPECT_EQ(pod.member("spec"), to_json(tree_of(spec)));
  EXPECT_EQ(pod.member("metadata.annotations"), "");
}

TEST_F(LimitRangerTest, SubresourcesUpdatesAndPodsThatAreBeingDeletedAreNotLimited) {
  limit(R"({"type":"Container","min":{"cpu":"1"}})");
  const std::string spec = spec_text({"{}"});
  PodUnderTest created(spec);
  EXPECT_EQ(under_.validate(created.attributes).message(),
            "pods \"p\" is forbidden: minimum cpu usage per Container is 1.  No request is specified");
  created.attributes.subresource = "status";
  EXPECT_TRUE(under_.validate(created.attributes).ok());
  PodUnderTest updated(spec, spec);
  EXPECT_TRUE(under_.validate(updated.attributes).ok());
  updated.attributes.subresource = "resize";
  EXPECT_FALSE(under_.validate(updated.attributes).ok());
  ObjectMeta(updated.old).set("deletionTimestamp", "2026-01-01T00:00:00Z");
  EXPECT_TRUE(under_.validate(updated.attributes).ok());
}

struct LimitCase {
  std::string_view item;
  std::string spec;
  std::string_view problem;  // empty: none
};

TEST_F(LimitRangerTest, PodsAreComparedWithEachDemand) {
  const LimitCase cases[] = {
      {R"({"type":"Container","min":{"cpu":"50m"}})", spec_text({R"({"requests":{"cpu":"100m"}})"}), ""},
      {R"({"type":"Container","min":{"cpu":"50m"}})", spec_text({R"({"requests":{"cpu":"40m"}})"}),
       "minimum cpu usage per Container is 50m, but request is 40m"},
      {R"({"type":"Container","min":{"memory":"50Mi"}})", spec_text({R"({"requests":{"memory":"60Mi"},"limits":{"memory":"40Mi"}})"}),
       "minimum memory usage per Container is 50Mi, but limit is 40Mi"},
      {R"({"type":"Container","max":{"cpu":"2"}})", spec_text({R"({"limits":{"cpu":"2500m"}})"}),
       "maximum cpu usage per Container is 2, but limit is 2500m"},
      {R"({"type":"Container","max":{"cpu":"2"}})", spec_text({"{}"}), "maximum cpu usage per Container is 2.  No limit is specified"},
      {R"({"type":"Container","max":{"memory":"1Gi"}})", spec_text({"{}", "{}"}),
       "maximum memory usage per Container is 1Gi.  No limit is specified"},
      {R"({"type":"Container","maxLimitRequestRatio":{"cpu":"1500m"}})",
       spec_text({R"({"requests":{"cpu":"500m"},"limits":{"cpu":"750m"}})"}), ""},
      {R"({"type":"Container","maxLimitRequestRatio":{"cpu":"1"}})",
       spec_text({R"({"requests":{"cpu":"1250m"},"limits":{"cpu":"2500m"}})"}),
       "cpu max limit to request ratio per Container is 1, but provided ratio is 2.000000"},
      {R"({"type":"Container","maxLimitRequestRatio":{"cpu":"1"}})", spec_text({R"({"limits":{"cpu":"2500m"}})"}),
       "cpu max limit to request ratio per Container is 1, but no request is specified or request is 0"},
      {R"({"type":"Pod","min":{"cpu":"100m"}})", spec_text({R"({"requests":{"cpu":"75m"}})", R"({"requests":{"cpu":"75m"}})"}), ""},
      {R"({"type":"Pod","min":{"cpu":"100m"}})", spec_text({R"({"requests":{"cpu":"75m"}})"}),
       "minimum cpu usage per Pod is 100m, but request is 75m"},
      {R"({"type":"Pod","max":{"memory":"1Gi"}})",
       spec_text({R"({"limits":{"memory":"500Mi"}})", R"({"limits":{"memory":"500Mi"}})", R"({"limits":{"memory":"500Mi"}})"}),
       "maximum memory usage per Pod is 1Gi, but limit is 1500Mi"},
      {R"({"type":"Pod","max":{"memory":"1Gi"}})",
       spec_text({R"({"limits":{"memory":"500Mi"}})"}, R"({"name":"i","resources":{"limits":{"memory":"1536Mi"}}})"),
       "maximum memory usage per Pod is 1Gi, but limit is 1536Mi"},
      {R"({"type":"Pod","max":{"cpu":"2"}})",
       spec_text({R"({"limits":{"cpu":"1500m"}})"}, R"({"name":"s","restartPolicy":"Always","resources":{"limits":{"cpu":"1"}}})"),
       "maximum cpu usage per Pod is 2, but limit is 2500m"},
      {R"({"type":"Pod","max":{"cpu":"400m"}})",
       R"({"containers":[{"name":"c","resources":{"limits":{"cpu":"200m"}}}],"resources":{"limits":{"cpu":"500m"}}})",
       "maximum cpu usage per Pod is 400m, but limit is 500m"},
      {R"({"type":"Container","min":{"cpu":"1","memory":"1Gi"}})", spec_text({R"({"requests":{"cpu":"500m","memory":"1Mi"}})"}),
       "[minimum cpu usage per Container is 1, but request is 500m, minimum memory usage per Container is 1Gi, but request is 1Mi]"},
  };
  for (const LimitCase& each : cases) {
    limit(each.item);
    EXPECT_EQ(problem(each.spec), each.problem.empty() ? "" : "pods \"p\" is forbidden: " + std::string(each.problem)) << each.item;
  }
}

TEST_F(LimitRangerTest, ClaimsAreComparedByTheirRequests) {
  limit(R"({"type":"PersistentVolumeClaim","min":{"storage":"5Gi"},"max":{"storage":"10Gi"}})");
  const auto problem_of = [&](std::string_view storage) {
    WriteUnderTest claim({"", "v1", "PersistentVolumeClaim"}, "persistentvolumeclaims",
                         R"({"metadata":{"name":"c"},"spec":{"resources":{"requests":{"storage":")" + std::string(storage) + R"("}}}})");
    return under_.validate(claim.attributes).message();
  };
  const std::string start = "persistentvolumeclaims \"c\" is forbidden: ";
  EXPECT_EQ(problem_of("7Gi"), "");
  EXPECT_EQ(problem_of("1Gi"), start + "minimum storage usage per PersistentVolumeClaim is 5Gi, but request is 1Gi");
  EXPECT_EQ(problem_of("20Gi"), start + "maximum storage usage per PersistentVolumeClaim is 10Gi, but request is 20Gi");
}

// The cache is stale: the store is read, and the result is cached for some time.
TEST(LimitRangerLookUp, AsksTheStoreWhileTheCacheHasNothing) {
  PluginUnderTest under;
  under.make(pod_plugins(), "LimitRanger");
  under.put(kLimitRange, "limitranges", range_text(R"({"type":"Container","min":{"cpu":"1"}})"));
  PodUnderTest pod(spec_text({"{}"}));
  EXPECT_FALSE(under.plugin->validate_now(pod.attributes).has_value());
  EXPECT_EQ(under.validate(pod.attributes).reason(), Reason::kForbidden);
  const auto known = under.plugin->validate_now(pod.attributes);
  ASSERT_TRUE(known.has_value());
  EXPECT_EQ(known->reason(), Reason::kForbidden);
}

TEST(Quantities, AreRoundedAwayFromZero) {
  struct Case {
    std::string_view text;
    std::int64_t whole, milli;
  };
  const Case cases[] = {{"0", 0, 0},
                        {"1500m", 2, 1500},
                        {"-1500m", -2, -1500},
                        {"1Ki", 1024, 1024000},
                        {"1u", 1, 1},
                        {"1e3", 1000, 1000000},
                        {"10E", 0, 0},
                        {"1.5Gi", 1610612736, 1610612736000},
                        {"x", 0, 0},
                        {"0.1", 1, 100},
                        {"500Mi", 524288000, 524288000000}};
  for (const Case& each : cases) {
    EXPECT_EQ(pods::whole_value(each.text), each.whole) << each.text;
    EXPECT_EQ(pods::milli_value(each.text), each.milli) << each.text;
  }
}

}  // namespace
}  // namespace backplane::admission::test
