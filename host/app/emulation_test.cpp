#include "app/emulation.hpp"

#include <gtest/gtest.h>

#include "app/feature_gates.hpp"

namespace backplane {
namespace {

// The problems that kube-apiserver reports for these flags; empty if it accepts them.
Problems problems_of(const std::vector<std::string>& args) {
  Options options;
  EXPECT_TRUE(options.flags.parse(args).ok());
  const auto emulation = read_emulation(options.flags);
  if (!emulation.ok()) return {emulation.status().message()};
  Problems problems;
  check_emulation(*emulation, problems);
  return problems;
}

EffectiveVersion version_of(const std::vector<std::string>& args) {
  Options options;
  EXPECT_TRUE(options.flags.parse(args).ok());
  return read_emulation(options.flags)->version;
}

TEST(Emulation, ReleasesAreReadAsUpstreamReadsThem) {
  using P = Problems;
  EXPECT_EQ(problems_of({}), P{});
  EXPECT_EQ(problems_of({"--emulated-version=1.33"}), P{});
  EXPECT_EQ(problems_of({"--emulated-version=kube=v1.35"}), P{});
  EXPECT_EQ(problems_of({"--emulated-version=1.30"}), (P{"emulation version 1.30 is not between [1.33, 1.36.0]",
                                                         "minCompatibilityVersion version 1.33 is not between [1.33, 1.30]"}));
  EXPECT_EQ(problems_of({"--emulated-version=1.37"}), P{"emulation version 1.37 is not between [1.33, 1.36.0]"});
  EXPECT_EQ(problems_of({"--emulated-version=abc"}), P{"could not parse \"abc\" as version"});
  EXPECT_EQ(problems_of({"--emulated-version=1"}), P{"illegal version string \"1\""});
  EXPECT_EQ(problems_of({"--emulated-version=1.35.2"}), P{"patch version not allowed, got: kube=1.35.2"});
  EXPECT_EQ(problems_of({"--emulated-version=1.35,kube=1.34"}), P{"duplicate version flag, kube=1.35 and kube=1.34"});
  EXPECT_EQ(problems_of({"--emulated-version=foo=1.35"}), P{"component not registered: foo"});
  EXPECT_EQ(problems_of({"--min-compatibility-version=1.40"}), P{"minCompatibilityVersion version 1.40 is not between [1.33, 1.36]"});
  EXPECT_EQ(problems_of({"--emulated-version=1.34", "--min-compatibility-version=1.35"}),
            P{"minCompatibilityVersion version 1.35 is not between [1.33, 1.34]"});
}

TEST(Emulation, ForwardCompatibilityNeedsAnEmulatedRelease) {
  const std::string cannot = " cannot be set to true if the emulation version is the same as the binary version";
  EXPECT_EQ(problems_of({"--emulation-forward-compatible"}), Problems{"ServerRunOptions.EmulationForwardCompatible" + cannot});
  EXPECT_EQ(problems_of({"--runtime-config-emulation-forward-compatible"}),
            Problems{"ServerRunOptions.RuntimeConfigEmulationForwardCompatible" + cannot});
  EXPECT_EQ(problems_of({"--emulated-version=1.35", "--emulation-forward-compatible"}), Problems{});
}

TEST(Emulation, ThePeersAreOneReleaseOlderUnlessAFlagSaysMore) {
  EXPECT_EQ(version_of({}).min_compatibility, (ApiRelease{1, 35}));
  EXPECT_EQ(version_of({"--emulated-version=1.35"}).min_compatibility, (ApiRelease{1, 34}));
  EXPECT_EQ(version_of({"--emulated-version=1.33"}).min_compatibility, (ApiRelease{1, 33}));
  EXPECT_EQ(version_of({"--min-compatibility-version=1.36"}).min_compatibility, (ApiRelease{1, 36}));
}

TEST(Emulation, GatesHaveTheStageAndTheDefaultOfTheEmulatedRelease) {
  const FeatureGates now, then({{1, 33}, {1, 33}});
  EXPECT_TRUE(now.enabled("DynamicResourceAllocation"));
  EXPECT_FALSE(then.enabled("DynamicResourceAllocation"));
  EXPECT_EQ(then.stage_of("DynamicResourceAllocation"), "BETA");
  EXPECT_FALSE(then.exists("WorkloadWithJob"));
  EXPECT_EQ(then.stage_of("WorkloadWithJob"), "");
  EXPECT_TRUE(now.exists("WorkloadWithJob"));
}

TEST(Emulation, GatesAreLockedAndKnownAsInTheEmulatedRelease) {
  FeatureGates then({{1, 33}, {1, 33}});
  EXPECT_TRUE(then.set({"DynamicResourceAllocation=true"}).empty()) << "its lock is of 1.35";
  EXPECT_TRUE(then.enabled("DynamicResourceAllocation"));
  EXPECT_EQ(then.set({"WorkloadWithJob=false"}),
            std::vector<std::string>{"cannot set feature gate WorkloadWithJob to false, feature is PreAlpha at emulated version 1.33, min "
                                     "compatibility version 1.33"});
}

}  // namespace
}  // namespace backplane
