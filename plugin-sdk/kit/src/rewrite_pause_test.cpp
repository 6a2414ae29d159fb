#include "backplane/kit/rewrite_pause.hpp"

#include <gtest/gtest.h>

namespace backplane::kit {
namespace {

using namespace std::chrono_literals;

struct RewritePauseTest : ::testing::Test {
  RewritePause::Clock::time_point now{1h};
  RewritePause pause{[this] { return now; }};
};

TEST_F(RewritePauseTest, TheSameValueIsWrittenTwiceAndThenAfterGrowingPauses) {
  EXPECT_EQ(pause.claim("k", "a"), 0s);
  EXPECT_EQ(pause.claim("k", "a"), 0s);
  EXPECT_EQ(pause.claim("k", "a"), 10s);
  now += 4s;
  EXPECT_EQ(pause.claim("k", "a"), 6s) << "asking costs nothing";
  now += 6s;
  EXPECT_EQ(pause.claim("k", "a"), 0s);
  EXPECT_EQ(pause.claim("k", "a"), 20s);
}

TEST_F(RewritePauseTest, TwoThatDisagreeForADayWriteAFewTimesAnHour) {
  int writes = 0;
  for (const auto end = now + 24h; now < end;) {
    const auto wait = pause.claim("k", "a");
    if (wait == 0s) {
      ++writes;
      now += 1s;
    } else {
      now += wait;
    }
  }
  EXPECT_LT(writes, 24 * 6 + 10);
}

TEST_F(RewritePauseTest, AnotherValueOrAnotherKeyOrALongTimeStartsAnew) {
  for (int i = 0; i < 2; ++i) EXPECT_EQ(pause.claim("k", "a"), 0s);
  EXPECT_EQ(pause.claim("other", "a"), 0s);
  EXPECT_EQ(pause.claim("k", "b"), 0s);
  EXPECT_EQ(pause.claim("k", "b"), 0s);
  EXPECT_EQ(pause.claim("k", "b"), 10s);
  now += 81s;
  EXPECT_EQ(pause.claim("k", "b"), 0s);
  EXPECT_EQ(pause.claim("k", "b"), 0s);
}

}  // namespace
}  // namespace backplane::kit
