#include "oidc/remote_keys.hpp"

#include <gtest/gtest.h>

namespace backplane::authentication {
namespace {

using namespace std::chrono_literals;

std::chrono::seconds lifetime(const char* name, const char* value) {
  return cache_lifetime({200, {{name, value}}, ""}, std::chrono::system_clock::time_point(784111777s));
}

TEST(CacheLifetimeTest, TheHeadersOfTheResponseDecide) {
  EXPECT_EQ(lifetime("Cache-Control", "public, max-age=60"), 60s);
  EXPECT_EQ(lifetime("cache-control", "max-age=60, s-maxage=90"), 90s);
  EXPECT_EQ(lifetime("Expires", "Sun, 06 Nov 1994 08:50:37 GMT"), 60s);
  EXPECT_EQ(lifetime("Expires", "Sun, 06 Nov 1990 08:50:37 GMT"), 0s);
  for (const char* none : {"no-store", "max-age", "max-age=", "max-age=-1", "max-age=x", "xmax-age=60"})
    EXPECT_EQ(lifetime("Cache-Control", none), 0s) << none;
  EXPECT_EQ(lifetime("Cache-Control", "max-age=99999999999"), 24h) << "a day at most";
}

TEST(FetchLimitTest, ABurstAndThenOneForEachInterval) {
  FetchLimit limit(2, 1s);
  auto now = std::chrono::steady_clock::time_point(1h);
  EXPECT_TRUE(limit.take(now));
  EXPECT_TRUE(limit.take(now));
  EXPECT_FALSE(limit.take(now));
  EXPECT_FALSE(limit.take(now += 900ms));
  EXPECT_TRUE(limit.take(now += 200ms));
  EXPECT_FALSE(limit.take(now));
}

}  // namespace
}  // namespace backplane::authentication
