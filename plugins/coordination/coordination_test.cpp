#include <gtest/gtest.h>

#include "backplane/kit/server_identity.hpp"
#include "identity_lease.hpp"
#include "kind_under_test.hpp"
#include "kinds.hpp"
#include "lease_collector.hpp"

namespace backplane::coordination {
namespace {

std::string lease_problems(const std::string& spec) {
  const auto schemas = *coordination_schemas();
  const testing::KindUnderTest lease(coordination_group()->kind("Lease"), *schemas.front(), "coordination.k8s.io");
  return lease.problems(lease.created(R"({"metadata":{"name":"l"},"spec":)" + spec + "}"));
}

std::string candidate_problems(const std::string& spec) {
  const auto schemas = *coordination_schemas();
  const auto strategy = coordination_group()->kind("LeaseCandidate").strategy();
  const Schema* schema = schemas[1]->find(GroupVersionKind{"coordination.k8s.io", "v1beta1", "LeaseCandidate"});
  Value value = json::parse(R"({"metadata":{"name":"c"},"spec":)" + spec + "}");
  EXPECT_TRUE(schema->normalize(value, nullptr).ok());
  FieldErrors errors;
  RequestContext context;
  schema->check(value.get_object(), nullptr, strategy->facts().checked, "", errors);
  strategy->validate(context, value.get_object(), errors);
  return errors.empty() ? "" : errors.aggregate_message();
}

TEST(Leases, CountUpwards) {
  EXPECT_EQ(lease_problems(R"({"leaseDurationSeconds":1,"leaseTransitions":0})"), "");
  EXPECT_EQ(lease_problems(R"({"leaseDurationSeconds":0})"), "spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0");
  EXPECT_EQ(lease_problems(R"({"leaseTransitions":-1})"), "spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0");
  EXPECT_EQ(lease_problems(R"({"preferredHolder":"x"})"),
            "spec.preferredHolder: Forbidden: may only be specified if `strategy` is defined");
  EXPECT_EQ(lease_problems(R"({"preferredHolder":"x","strategy":"y"})"),
            "spec.strategy.strategy: Unsupported value: \"y\": supported values: \"OldestEmulationVersion\"");
}

TEST(LeaseCandidates, HaveVersions) {
  const std::string prefix = R"({"leaseName":"l","strategy":"OldestEmulationVersion",)";
  EXPECT_EQ(candidate_problems(prefix + R"("binaryVersion":"1.36.0","emulationVersion":"1.35.0"})"), "");
  EXPECT_EQ(candidate_problems(prefix + R"("binaryVersion":"1.36.0-rc.2","emulationVersion":"1.36.0-rc.10"})"),
            "spec.binaryVersion: Invalid value: \"1.36.0-rc.2\": must be greater than or equal to `emulationVersion`");
  EXPECT_EQ(candidate_problems(prefix + R"("binaryVersion":"1.036.0","emulationVersion":"0.0.1"})"),
            "[spec.binaryVersion: Invalid value: \"1.036.0\": must be a valid semantic version, "
            "spec.binaryVersion: Invalid value: \"1.036.0\": must be greater than or equal to `emulationVersion`]");
  EXPECT_EQ(candidate_problems(prefix + R"("binaryVersion":"1.36.0"})"),
            "spec.emulationVersion: Required value: must be specified when `strategy` is 'OldestEmulationVersion'");
  EXPECT_EQ(candidate_problems("{}"),
            "[spec.leaseName: Required value, spec.binaryVersion: Required value, spec.strategy: Required value]");
  EXPECT_EQ(candidate_problems(R"({"leaseName":"l","strategy":"x","binaryVersion":"1.36.0"})"),
            "spec.strategy.strategy: Unsupported value: \"x\": supported values: \"OldestEmulationVersion\"");
  EXPECT_EQ(candidate_problems(R"({"leaseName":"l","strategy":"example.com/x","binaryVersion":"1.36.0"})"), "");
}

TEST(IdentityLeases, AreNamedAsKubeApiserversOfTheSameHost) { EXPECT_EQ(kit::server_id("vm"), "apiserver-wlv32tlttr4jl3gtroqexyxapa"); }

TEST(IdentityLeases, EndWhenTheyWereNotRenewed) {
  const auto expired = [](std::string_view spec) {
    return is_expired(json::parse("{\"spec\":" + std::string(spec) + "}").get_object(), 1577836800 + 100);  // 2020-01-01T00:01:40Z
  };
  EXPECT_FALSE(expired(R"({"renewTime":"2020-01-01T00:00:00.000000Z","leaseDurationSeconds":100})"));
  EXPECT_TRUE(expired(R"({"renewTime":"2020-01-01T00:00:00.000000Z","leaseDurationSeconds":99})"));
  EXPECT_TRUE(expired(R"({"renewTime":"2020-01-01T00:00:00.000000Z"})"));
  EXPECT_TRUE(expired("{}"));
}

}  // namespace
}  // namespace backplane::coordination
