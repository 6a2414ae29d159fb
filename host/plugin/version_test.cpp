#include "plugin/version.hpp"

#include <gtest/gtest.h>

namespace backplane {
namespace {

Version version(std::string_view text) {
  auto parsed = Version::parse(text);
  EXPECT_TRUE(parsed.ok()) << text;
  return parsed.ok() ? *parsed : Version{};
}

bool holds(std::string_view range, std::string_view text) {
  auto parsed = VersionRange::parse(range);
  EXPECT_TRUE(parsed.ok()) << range;
  return parsed.ok() && parsed->contains(version(text));
}

TEST(Version, OrdersAsSemverDoes) {
  const char* rising[] = {
      "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-rc.1", "1.0.0", "1.0.1",
      "1.2.0",       "10.0.0"};
  for (std::size_t i = 0; i + 1 < std::size(rising); ++i) EXPECT_LT(version(rising[i]), version(rising[i + 1])) << rising[i];
}

TEST(Version, BuildMetadataIsKeptButNotCompared) {
  EXPECT_EQ(version("1.2.3+linux"), version("1.2.3"));
  EXPECT_EQ(version("1.2.3-rc.1+linux.5").to_string(), "1.2.3-rc.1+linux.5");
}

TEST(Version, RefusesWhatSemverRefuses) {
  for (auto text : {"", "1", "1.2", "1.2.3.4", "01.2.3", "1.02.3", "v1.2.3", "1.2.3-", "1.2.3-01", "1.2.3+", "1.2.x", "-1.2.3",
                    "1.2.3-a..b", " 1.2.3", "99999999999.0.0"}) {
    EXPECT_FALSE(Version::parse(text).ok()) << text;
  }
}

TEST(VersionRange, ComparatorsOfOneAlternativeMustAllHold) {
  EXPECT_TRUE(holds(">=1.2 <2", "1.9.9"));
  EXPECT_FALSE(holds(">=1.2 <2", "2.0.0"));
  EXPECT_FALSE(holds(">=1.2 <2", "1.1.9"));
  EXPECT_TRUE(holds(">= 1.2, < 2", "1.2.0"));
  EXPECT_TRUE(holds(">1.2", "1.3.0"));
  EXPECT_FALSE(holds(">1.2", "1.2.9"));
  EXPECT_TRUE(holds("<=1.2", "1.2.9"));
}

TEST(VersionRange, CaretKeepsTheLeftmostPartThatIsNotZero) {
  EXPECT_TRUE(holds("^1.4", "1.9.0"));
  EXPECT_FALSE(holds("^1.4", "2.0.0"));
  EXPECT_FALSE(holds("^1.4", "1.3.9"));
  EXPECT_TRUE(holds("^0.2.3", "0.2.9"));
  EXPECT_FALSE(holds("^0.2.3", "0.3.0"));
  EXPECT_TRUE(holds("^0.0.3", "0.0.3"));
  EXPECT_FALSE(holds("^0.0.3", "0.0.4"));
  EXPECT_TRUE(holds("^0", "0.9.0"));
  EXPECT_FALSE(holds("^0.0", "0.1.0"));
}

TEST(VersionRange, TildeKeepsTheMinor) {
  EXPECT_TRUE(holds("~1.4.2", "1.4.9"));
  EXPECT_FALSE(holds("~1.4.2", "1.5.0"));
  EXPECT_TRUE(holds("~1", "1.9.0"));
}

TEST(VersionRange, WildcardsAndMissingPartsStandForEveryValue) {
  EXPECT_TRUE(holds("1.x", "1.7.3"));
  EXPECT_FALSE(holds("1.x", "2.0.0"));
  EXPECT_TRUE(holds("1.4", "1.4.7"));
  EXPECT_FALSE(holds("1.4", "1.5.0"));
  EXPECT_TRUE(holds("*", "0.0.1"));
  EXPECT_TRUE(holds("", "3.2.1"));
  EXPECT_TRUE(holds("=1.4.2", "1.4.2"));
  EXPECT_FALSE(holds("1.4.2", "1.4.3"));
}

TEST(VersionRange, OneAlternativeIsEnough) {
  EXPECT_TRUE(holds("^1 || ^3", "3.1.0"));
  EXPECT_FALSE(holds("^1 || ^3", "2.0.0"));
}

TEST(VersionRange, APrereleaseSatisfiesOnlyARangeThatNamesOneOfItsVersion) {
  EXPECT_FALSE(holds("*", "1.0.0-rc.1"));
  EXPECT_FALSE(holds("^1.0", "1.1.0-rc.1"));
  EXPECT_TRUE(holds(">=1.1.0-rc.1", "1.1.0-rc.2"));
  EXPECT_TRUE(holds("^1.1.0-rc.1", "1.1.0"));
  EXPECT_FALSE(holds(">=1.1.0-rc.1", "1.2.0-rc.1"));
}

TEST(VersionRange, RefusesWhatItCannotRead) {
  for (auto text : {"abc", "^", "1.2.3.4", "||", "^1 ||", "=>1", "1..2", "x.1", ">*", "1.2-rc"})
    EXPECT_FALSE(VersionRange::parse(text).ok()) << text;
}

}  // namespace
}  // namespace backplane
