#include "records.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace backplane::rocks {
namespace {

TEST(Records, AVersionComesBackAsItWas) {
  std::string row;
  append_version(row, {300, 2, 0x7fffffffffff, "value"});
  const auto version = parse_version(row);
  ASSERT_TRUE(version);
  EXPECT_EQ(version->mod, 300);
  EXPECT_EQ(version->create, 2);
  EXPECT_EQ(version->lease, 0x7fffffffffff);
  EXPECT_EQ(version->value, "value");
}

TEST(Records, ALogLineComesBackAsItWas) {
  std::string row;
  append_log_record(row, {true, 129, "/registry/a"});
  const auto line = parse_log_record(row);
  ASSERT_TRUE(line);
  EXPECT_TRUE(line->deleted);
  EXPECT_EQ(line->previous, 129);
  EXPECT_EQ(line->key, "/registry/a");
}

TEST(Records, BytesThatAreNoRecordGiveNothing) {
  EXPECT_FALSE(parse_version(""));
  EXPECT_FALSE(parse_version("\xff\xff"));
  EXPECT_FALSE(parse_log_record(""));
  EXPECT_FALSE(parse_log_record("X\x01/a"));
  EXPECT_FALSE(parse_log_record("P\x01"));
  EXPECT_FALSE(parse_old_key("/a"));
  EXPECT_FALSE(parse_old_key(std::string(10, 'a')));
  EXPECT_FALSE(parse_number("123"));
}

TEST(Records, KeysSortByKeyAndThenByRevision) {
  const std::vector<std::string> rows = {old_key("/a", 1),   old_key("/a", 255), old_key("/a", 256),
                                         old_key("/a/b", 1), old_key("/a0", 1),  old_key("/b", 0)};
  EXPECT_TRUE(std::is_sorted(rows.begin(), rows.end()));
  EXPECT_LT(log_key(9, 4'000'000'000), log_key(10, 0));
  EXPECT_LT(log_key(10, 255), log_key(10, 256));
  EXPECT_EQ(log_key_revision(log_key(1'000'000, 3)), 1'000'000);
  EXPECT_EQ(parse_old_key(rows[2])->key, "/a");
  EXPECT_EQ(parse_old_key(rows[2])->end, 256);
}

}  // namespace
}  // namespace backplane::rocks
