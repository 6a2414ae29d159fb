#include "default_service_cidr.hpp"

#include <gtest/gtest.h>

namespace backplane::networking {
namespace {

using Ranges = std::vector<std::string>;

CidrStep step(std::string_view text, const Ranges& ranges) {
  return next_step(json::parse(json::string_view(text.data(), text.size())).get_object(), ranges);
}

constexpr std::string_view kNew = R"({"spec":{"cidrs":["10.0.0.0/16"]}})";

TEST(DefaultServiceCidr, RangesAreNetworks) {
  EXPECT_EQ(canonical_ranges("10.0.0.7/16,FD00::1/112"), (Ranges{"10.0.0.0/16", "fd00::/112"}));
  EXPECT_EQ(canonical_ranges(""), Ranges{"10.0.0.0/24"});
}

TEST(DefaultServiceCidr, IsSetReadyUnlessItsConditionIsFalse) {
  EXPECT_EQ(step(kNew, {"10.0.0.0/16"}), CidrStep::kSetReady);
  const auto with = [](const std::string& status) {
    return step(R"({"spec":{"cidrs":["10.0.0.0/16"]},"status":{"conditions":[{"type":"Ready","status":")" + status + "\"}]}}",
                {"10.0.0.0/16"});
  };
  EXPECT_EQ(with("Unknown"), CidrStep::kSetReady);
  EXPECT_EQ(with("True"), CidrStep::kNothing);
  EXPECT_EQ(with("False"), CidrStep::kNotReadyByClient);
  EXPECT_EQ(step(R"({"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"},"spec":{"cidrs":["10.0.0.0/16"]}})", {"10.0.0.0/16"}),
            CidrStep::kNothing);
}

TEST(DefaultServiceCidr, GetsASecondFamilyAndNoOtherRange) {
  EXPECT_EQ(step(kNew, {"10.0.0.0/16", "fd00::/112"}), CidrStep::kJoinFamily);
  EXPECT_EQ(step(kNew, {"10.1.0.0/16"}), CidrStep::kMismatch);
  EXPECT_EQ(step(kNew, {"10.1.0.0/16", "fd00::/112"}), CidrStep::kMismatch);
}

}  // namespace
}  // namespace backplane::networking
