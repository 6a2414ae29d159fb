#include "backplane/kit/path.hpp"

#include <gtest/gtest.h>

namespace backplane::kit {
namespace {

TEST(Path, IsWrittenAsFieldPathsAre) {
  const Path spec("spec"), container = spec.at("containers", 2), limits = container.at("resources.limits");
  EXPECT_EQ(container.text(), "spec.containers[2]");
  EXPECT_EQ(limits.at_key("cpu").text(), "spec.containers[2].resources.limits[cpu]");
  EXPECT_EQ(container.at("env") + ": too many", "spec.containers[2].env: too many");
  const Path list = spec.at("list");
  EXPECT_EQ(list.at(0).text(), "spec.list[0]");
}

TEST(Path, TheObjectItselfHasNoText) {
  const Path root("");
  EXPECT_EQ(root.text(), "");
  EXPECT_EQ(root.at("metadata.annotations").text(), "metadata.annotations");
}

}  // namespace
}  // namespace backplane::kit
