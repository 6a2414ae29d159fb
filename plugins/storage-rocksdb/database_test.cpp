#include "database.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

namespace backplane::rocks {
namespace {

class DatabaseTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_NE(mkdtemp(directory_.data()), nullptr); }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string directory_ = std::filesystem::temp_directory_path() / "database-test-XXXXXX";
};

bool merges(const Database& database) {
  const Database::Reading reading(database);
  bool all = true;
  for (const Family family : {Family::kDefault, Family::kLive, Family::kOld, Family::kLog}) {
    all = all && !reading.db().GetOptions(reading.family(family)).disable_auto_compactions;
  }
  return all;
}

TEST_F(DatabaseTest, LeavesItsFilesAsTheyAreUntilItIsTold) {
  auto database = Database::open(directory_, nullptr);
  ASSERT_TRUE(database.ok()) << database.status().message();
  EXPECT_FALSE(merges(**database));
  (*database)->merge_files();
  EXPECT_TRUE(merges(**database));
  EXPECT_TRUE((*database)->close().ok());
  (*database)->merge_files();  // There is nothing to merge.
}

}  // namespace
}  // namespace backplane::rocks
