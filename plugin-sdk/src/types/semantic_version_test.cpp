#include "backplane/types/semantic_version.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace backplane {
namespace {

TEST(SemanticVersions, AreThreeNumbersAndWords) {
  for (const char* good : {"1.2.3", "0.0.0", "1.2.3-alpha.1+b.01", "1.2.3+x-y"}) EXPECT_TRUE(SemanticVersion::parse(good)) << good;
  for (const char* bad : {"", "1", "1.2", "1.2.3.4", "01.2.3", "1.2.3-", "1.2.3-01", "1.2.3+", "a.b.c"}) {
    EXPECT_FALSE(SemanticVersion::parse(bad)) << bad;
  }
  EXPECT_FALSE(SemanticVersion::parse("1.2.99999999999999999999")) << "no number of 64 bits";
}

TEST(SemanticVersions, InvalidVersionsHaveAReason) {
  const auto why = [](std::string_view text) {
    std::string out;
    EXPECT_FALSE(SemanticVersion::parse(text, &out)) << text;
    return out;
  };
  EXPECT_EQ(why("1.2"), "No Major.Minor.Patch elements found");
  EXPECT_EQ(why("1..3"), R"(strconv.ParseUint: parsing "": invalid syntax)");
  EXPECT_EQ(why("1.2.3-01"), R"(Numeric PreRelease version must not contain leading zeroes "01")");
  EXPECT_EQ(why("1.2.3+a..b"), "Build meta data is empty");
}

TEST(SemanticVersions, PrereleasesStandBeforeWhatTheyLeadTo) {
  const std::string_view rising[] = {"1.0.0-1", "1.0.0-2", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-beta", "1.0.0", "1.0.1", "1.10.0"};
  for (std::size_t i = 0; i + 1 < std::size(rising); ++i) {
    EXPECT_TRUE(*SemanticVersion::parse(rising[i]) < *SemanticVersion::parse(rising[i + 1])) << rising[i];
    EXPECT_FALSE(*SemanticVersion::parse(rising[i + 1]) < *SemanticVersion::parse(rising[i])) << rising[i];
  }
}

}  // namespace
}  // namespace backplane
