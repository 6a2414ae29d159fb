#include "frame/lease_clock.hpp"

#include <gtest/gtest.h>

#include "backplane/core/meta.hpp"

namespace backplane::controllers {
namespace {

using std::chrono::seconds;

class LeaseClockTest : public ::testing::Test {
 protected:
  // The seconds for which the lease is held after it was observed with a renewTime of `renewed` seconds ago.
  std::int64_t seen(const char* holder, int renewed) {
    const std::int64_t unix = 1'800'000'000;
    Object lease;
    lease["spec"] = Object{{"holderIdentity", holder}, {"leaseDurationSeconds", 15}, {"renewTime", format_rfc3339(unix - renewed)}};
    clock.observe(&lease, now, static_cast<double>(unix));
    return left();
  }
  std::int64_t left() const { return std::chrono::duration_cast<seconds>(clock.left(now)).count(); }

  LeaseClock clock;
  LeaseClock::Clock::time_point now{seconds(1000)};
};

TEST_F(LeaseClockTest, ALeaseIsHeldForItsDurationAfterTheRecordedTime) {
  EXPECT_EQ(seen("a", 5), 10);
  now += seconds(9);
  EXPECT_EQ(left(), 1);
  now += seconds(2);
  EXPECT_EQ(left(), 0);
}

TEST_F(LeaseClockTest, AnOldLeaseOrOneWithoutAHolderIsNotHeld) {
  EXPECT_EQ(seen("a", 16), 0);
  EXPECT_EQ(seen("", 0), 0);
  clock.observe(nullptr, now, 0);
  EXPECT_EQ(left(), 0);
}

TEST_F(LeaseClockTest, AChangeCountsFromItsObservationRegardlessOfTheOtherClock) {
  EXPECT_EQ(seen("a", 1000), 0);
  EXPECT_EQ(seen("a", 990), 15);
  EXPECT_EQ(seen("a", 990), 15) << "the same lease again is no renewal";
  EXPECT_EQ(seen("", 980), 0) << "released";
}

}  // namespace
}  // namespace backplane::controllers
