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

TEST_F(DatabaseTest, FilesAreMergedOnlyAfterMergeFilesIsCalled) {
  auto database = Database::open(directory_, nullptr);
  ASSERT_TRUE(database.ok()) << database.status().message();
  EXPECT_FALSE(merges(**database));
  (*database)->merge_files();
  EXPECT_TRUE(merges(**database));
  EXPECT_TRUE((*database)->close().ok());
  (*database)->merge_files();  // the database has nothing to compact
}

std::uint64_t bytes_in_memory(const Database& database, Family family) {
  const Database::Reading reading(database);
  std::uint64_t bytes = 0;
  EXPECT_TRUE(reading.db().GetIntProperty(reading.family(family), rocksdb::DB::Properties::kCurSizeActiveMemTable, &bytes));
  return bytes;
}

TEST_F(DatabaseTest, WriteOutMuchFlushesOnlyLargeBuffers) {
  auto database = Database::open(directory_, nullptr);
  ASSERT_TRUE(database.ok()) << database.status().message();
  EXPECT_FALSE((*database)->write_out_if_large());
  {
    const Database::Reading reading(**database);
    for (int i = 0; i < 32; ++i) {
      const auto put =
          reading.db().Put(rocksdb::WriteOptions(), reading.family(Family::kLive), std::to_string(i), std::string(64 * 1024, 'x'));
      ASSERT_TRUE(put.ok()) << put.ToString();
    }
  }
  ASSERT_GT(bytes_in_memory(**database, Family::kLive), 2u << 20);
  EXPECT_TRUE((*database)->write_out_if_large());
  EXPECT_LT(bytes_in_memory(**database, Family::kLive), 1u << 20);
  EXPECT_FALSE((*database)->write_out_if_large());
  EXPECT_TRUE((*database)->close().ok());
  EXPECT_FALSE((*database)->write_out_if_large());
}

}  // namespace
}  // namespace backplane::rocks
