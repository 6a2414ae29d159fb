#include "cron_schedule.hpp"

#include <gtest/gtest.h>

#include "index_ranges.hpp"
#include "time_zones.hpp"

namespace backplane::batch {
namespace {

TEST(Schedules, AreFiveFieldsOrAWord) {
  for (const char* good : {"*/5 * * * *", "0 0 1,15 jan-MAR Mon", "? ? ? ? ?", "+5 0-23/2 1/3 * 0,,6", "@hourly", "@midnight",
                           "@every 1h30m", "TZ=Europe/Paris 0 0 * * *", "CRON_TZ=UTC @daily", "TZ= 0 0 * * *", "\t0  0 * * * "}) {
    EXPECT_EQ(schedule_problem(good), "") << good;
  }
}

TEST(Schedules, AreRefusedWithTheMessagesOfTheirParser) {
  struct Row {
    const char* schedule;
    const char* problem;
  };
  constexpr Row kRows[] = {
      {"", "empty spec string"},
      {"* * * *", "expected exactly 5 fields, found 4: [* * * *]"},
      {" ", "expected exactly 5 fields, found 0: []"},
      {"60 * * * *", "end of range (60) above maximum (59): 60"},
      {"* * 0 * *", "beginning of range (0) below minimum (1): 0"},
      {"* * * * 7", "end of range (7) above maximum (6): 7"},
      {"5-1 * * * *", "beginning of range (5) beyond end of range (1): 5-1"},
      {"*/0 * * * *", "step of range should be a positive number: */0"},
      {"1-2-3 * * * *", "too many hyphens: 1-2-3"},
      {"*/2/3 * * * *", "too many slashes: */2/3"},
      {"x * * * *", "failed to parse int from x: strconv.Atoi: parsing \"x\": invalid syntax"},
      {"-5 * * * *", "failed to parse int from : strconv.Atoi: parsing \"\": invalid syntax"},
      {"*/-2 * * * *", "negative number (-2) not allowed: -2"},
      {"99999999999999999999 * * * *",
       "failed to parse int from 99999999999999999999: strconv.Atoi: parsing \"99999999999999999999\": value out of range"},
      {"jan * * * *", "failed to parse int from jan: strconv.Atoi: parsing \"jan\": invalid syntax"},
      {"@never", "unrecognized descriptor: @never"},
      {"@every x", "failed to parse duration @every x: time: invalid duration \"x\""},
      {"@every 5", "failed to parse duration @every 5: time: missing unit in duration \"5\""},
      {"@every 1h5d", "failed to parse duration @every 1h5d: time: unknown unit \"d\" in duration \"1h5d\""},
      {"TZ=Nowhere 0 0 * * *", "provided bad location Nowhere: unknown time zone Nowhere"},
      {"TZ=../x 0 0 * * *", "provided bad location ../x: time: invalid location name"},
      {"TZ=UTC", "invalid schedule format: runtime error: slice bounds out of range [:-1]"},
  };
  for (const Row& row : kRows) EXPECT_EQ(schedule_problem(row.schedule), row.problem) << row.schedule;
}

TEST(TimeZones, AreKnownByTheirWholeNames) {
  for (const char* good : {"UTC", "Europe/Paris", "America/Argentina/Buenos_Aires", "Etc/GMT+5", "CET"}) {
    EXPECT_EQ(time_zone_problem(good), "") << good;
  }
  for (const char* bad : {"Europe", "Paris", "europe/paris", "Europe/", "Argentina/Buenos_Aires", "Europe/Paris Europe/Rome"}) {
    EXPECT_EQ(time_zone_problem(bad), "unknown time zone " + std::string(bad));
  }
}

TEST(IndexRanges, AreCounted) {
  EXPECT_EQ(count_indexes("", 3).total, 0);
  EXPECT_EQ(count_indexes("0,2-4,+6", 7).total, 5);
  EXPECT_EQ(count_indexes("0,2-4", 4).problem, "too large index: \"4\"");
  EXPECT_EQ(count_indexes("0,0", 4).problem, "non-increasing order, previous: 0, current: 0");
  EXPECT_EQ(count_indexes("2-2", 4).problem, "non-increasing order, previous: 2, current: 2");
  EXPECT_EQ(count_indexes("a", 4).problem, "cannot convert string to integer for index: \"a\"");
  EXPECT_EQ(count_indexes("1,", 4).problem, "cannot convert string to integer for index: \"\"");
  EXPECT_EQ(count_indexes("0-1-2", 4).problem,
            "the fragment \"0-1-2\" violates the requirement that an index interval can have at most two parts separated by '-'");
}

TEST(IndexRanges, MayHaveAnIndexInCommon) {
  EXPECT_EQ(common_index("0-2,5", "3,4,6", 10), std::nullopt);
  EXPECT_EQ(common_index("0-2,5-7", "4,6-8", 10), 6);
  EXPECT_EQ(common_index("x,3", "y,3", 10), 3);
  EXPECT_EQ(common_index("", "3", 10), std::nullopt);
}

}  // namespace
}  // namespace backplane::batch
