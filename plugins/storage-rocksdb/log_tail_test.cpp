#include "log_tail.hpp"

#include <gtest/gtest.h>
#include <rocksdb/env.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <vector>

#include "database.hpp"
#include "log_format.hpp"
#include "reserved_log.hpp"

namespace backplane::rocks {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kSector = 512;

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class LogTailTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_NE(mkdtemp(directory_.data()), nullptr); }
  void TearDown() override { fs::remove_all(directory_); }

  // Copies the directory of an open store with `count` durable rows to "copy", as a crash would leave it. Returns the log with the rows.
  fs::path crashed_store(int count, std::size_t bytes) {
    auto database = Database::open(directory_ + "/store", nullptr);
    EXPECT_TRUE(database.ok()) << database.status().message();
    for (int i = 0; i < count; ++i) put(**database, i, bytes);
    fs::copy(directory_ + "/store", copy(), fs::copy_options::recursive);
    fs::path log;
    for (const auto& file : fs::directory_iterator(copy())) {
      if (file.path().extension() == ".log" && (log.empty() || file.path() > log)) log = file.path();
    }
    return log;
  }
  void put(Database& database, int i, std::size_t bytes) {
    const Database::Reading reading(database);
    rocksdb::WriteOptions durable;
    durable.sync = true;
    const auto put = reading.db().Put(durable, reading.family(Family::kLive), std::to_string(i), std::string(bytes, 'x'));
    ASSERT_TRUE(put.ok()) << put.ToString();
  }
  // Replaces the content of the log by `bytes` and opens the store. Returns the number of rows; -1: opening fails, and open_error_ is the
  // error.
  int rows(const fs::path& log, std::string_view bytes) {
    const std::string tried = directory_ + "/tried";
    fs::remove_all(tried);
    fs::copy(copy(), tried, fs::copy_options::recursive);
    std::ofstream(fs::path(tried) / log.filename(), std::ios::binary | std::ios::trunc)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    auto database = Database::open(tried, nullptr);
    if (!database.ok()) {
      open_error_ = database.status().message();
      return -1;
    }
    const Database::Reading reading(**database);
    std::unique_ptr<rocksdb::Iterator> it(reading.db().NewIterator(rocksdb::ReadOptions(), reading.family(Family::kLive)));
    int count = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next()) ++count;
    EXPECT_TRUE(it->status().ok());
    return count;
  }
  std::string copy() const { return directory_ + "/copy"; }

  std::string directory_ = fs::temp_directory_path() / "log-tail-test-XXXXXX";
  std::string open_error_;
};

// The offsets at which the records begin, and the end of the last record.
std::vector<std::size_t> places(std::string_view bytes) {
  std::vector<std::size_t> found;
  std::size_t at = 0;
  for (;;) {
    if (const std::size_t left = kLogBlock - at % kLogBlock; left < kLogHeader) at += left;
    const LogHead head = parse_log_head(bytes.substr(at));
    if (head.part == LogPart::kNone) break;
    if (head.part == LogPart::kFull || head.part == LogPart::kFirst) found.push_back(at);
    at += kLogHeader + head.length;
  }
  found.push_back(at);
  return found;
}

// The log as a crash leaves it while the last record is written: only the sectors for which `is_written` returns true are on the disk.
std::string with_lost_sectors(std::string bytes, const std::function<bool(std::size_t sector)>& is_written) {
  const auto all = places(bytes);
  const std::size_t begin = all[all.size() - 2], end = all.back();
  for (std::size_t at = begin; at < end; ++at) {
    if (!is_written(at / kSector - begin / kSector)) bytes[at] = 0;
  }
  return bytes;
}

TEST_F(LogTailTest, SmallWritesDoNotChangeTheSizeOfTheLog) {
  const fs::path log = crashed_store(3, 1000);
  EXPECT_EQ(fs::file_size(log), kReservedLogBytes);
  EXPECT_EQ(rows(log, contents(log)), 3);
}

// The last record is in one or two sectors, crosses the end of a block, or has many sectors.
TEST_F(LogTailTest, ARecordOfWhichASectorIsMissingWasNeverAcknowledged) {
  for (const auto& [count, size] : {std::pair{3, 100}, {20, 1000}, {31, 1000}, {32, 1000}, {33, 1000}, {5, 9000}}) {
    fs::remove_all(copy());
    fs::remove_all(directory_ + "/store");
    const fs::path log = crashed_store(count, static_cast<std::size_t>(size));
    const std::string bytes = contents(log);
    const auto all = places(bytes);
    const std::size_t sectors = (all.back() - 1) / kSector - all[all.size() - 2] / kSector + 1;
    for (std::size_t one = 0; one < sectors; ++one) {
      const auto place = std::to_string(count) + " of " + std::to_string(size) + ", sector " + std::to_string(one);
      EXPECT_EQ(rows(log, with_lost_sectors(bytes, [one](std::size_t sector) { return sector != one; })), count - 1)
          << "without " << place << open_error_;
      EXPECT_EQ(rows(log, with_lost_sectors(bytes, [one](std::size_t sector) { return sector < one; })), count - 1)
          << "up to " << place << open_error_;
      if (sectors == 1) continue;
      EXPECT_EQ(rows(log, with_lost_sectors(bytes, [one](std::size_t sector) { return sector == one; })), count - 1)
          << "only " << place << open_error_;
    }
  }
}

TEST_F(LogTailTest, TheSizeMayBeThatFromBeforeTheSpaceWasReserved) {
  const fs::path log = crashed_store(20, 1000);
  const std::string bytes = contents(log);
  const auto all = places(bytes);
  EXPECT_EQ(rows(log, bytes.substr(0, all.back())), 20);
  EXPECT_EQ(rows(log, bytes.substr(0, all.back() - 7)), 19);
  EXPECT_EQ(rows(log, bytes.substr(0, all[19] + 3)), 19);
  EXPECT_EQ(rows(log, bytes.substr(0, 0)), 0);
}

TEST_F(LogTailTest, AChangedByteOfTheLastRecordIsDamage) {
  const fs::path log = crashed_store(20, 1000);
  std::string bytes = contents(log);
  const auto all = places(bytes);
  bytes[all[19] + 500] = '?';
  EXPECT_EQ(rows(log, bytes), -1);
  EXPECT_NE(open_error_.find("is damaged and is not changed"), std::string::npos) << open_error_;
}

// RocksDB skips from zeros to the next block, and would lose the acknowledged records in between.
TEST_F(LogTailTest, AZeroSectorBeforeOtherRecordsIsDamage) {
  const fs::path log = crashed_store(20, 1000);
  const std::string bytes = contents(log);
  const auto all = places(bytes);
  for (const std::size_t place : {all[10], all[10] + kSector, all[18] + kSector}) {
    std::string with_hole = bytes;
    std::fill_n(with_hole.begin() + static_cast<std::ptrdiff_t>(place / kSector * kSector), kSector, '\0');
    EXPECT_EQ(rows(log, with_hole), -1);
    EXPECT_NE(open_error_.find(log.filename().string() + " offset "), std::string::npos) << open_error_;
  }
}

TEST_F(LogTailTest, OnlyTheEndOfALongLogIsRead) {
  const fs::path log = crashed_store(200, 12'000);
  const std::string bytes = contents(log);
  ASSERT_GT(bytes.size(), 2'000'000u);
  EXPECT_EQ(rows(log, bytes), 200);
  EXPECT_EQ(rows(log, with_lost_sectors(bytes, [](std::size_t sector) { return sector != 3; })), 199);
}

// Regression: space was reserved before the last part of such a record. After a crash at this moment, the store was reported as damaged.
TEST_F(LogTailTest, NoSpaceIsReservedWithinARecordOfSeveralParts) {
  const std::string path = directory_ + "/000001.log";
  std::unique_ptr<rocksdb::FSWritableFile> file;
  ASSERT_TRUE(rocksdb::FileSystem::Default()->NewWritableFile(path, rocksdb::FileOptions(), &file, nullptr).ok());
  file = make_reserved_log(std::move(file), path);
  const std::string part(1 << 20, 'x'), rest(100, 'y');
  ASSERT_TRUE(file->Append(part, rocksdb::IOOptions(), nullptr).ok());
  ASSERT_TRUE(file->Append(rest, rocksdb::IOOptions(), nullptr).ok());
  EXPECT_EQ(fs::file_size(path), part.size() + rest.size());
  ASSERT_TRUE(file->Sync(rocksdb::IOOptions(), nullptr).ok());
  ASSERT_TRUE(file->Append(rest, rocksdb::IOOptions(), nullptr).ok());
  EXPECT_GT(fs::file_size(path), part.size() + 2 * rest.size());
  ASSERT_TRUE(file->Close(rocksdb::IOOptions(), nullptr).ok());
}

TEST_F(LogTailTest, AFileIsAsLongAsItsContentsInTheEnd) {
  const std::string path = directory_ + "/000001.log";
  std::unique_ptr<rocksdb::FSWritableFile> file;
  ASSERT_TRUE(rocksdb::FileSystem::Default()->NewWritableFile(path, rocksdb::FileOptions(), &file, nullptr).ok());
  file = make_reserved_log(std::move(file), path);
  std::string written;
  const auto append = [&](std::size_t size, char byte) {
    written.append(size, byte);
    ASSERT_TRUE(file->Append(std::string(size, byte), rocksdb::IOOptions(), nullptr).ok());
    ASSERT_TRUE(file->Sync(rocksdb::IOOptions(), nullptr).ok());
  };
  append(100, 'a');
  EXPECT_EQ(fs::file_size(path), kReservedLogBytes);
  append(100'000, 'b');  // fits into the reserved space
  EXPECT_EQ(fs::file_size(path), kReservedLogBytes);
  append(200'000, 'c');  // exceeds the reserved space
  EXPECT_EQ(fs::file_size(path), written.size());
  append(100, 'd');
  EXPECT_EQ(fs::file_size(path), written.size() - 100 + kReservedLogBytes);
  append(kLargestReservedAppend + 1, 'e');
  EXPECT_EQ(fs::file_size(path), written.size());
  append(100, 'f');
  ASSERT_TRUE(file->Close(rocksdb::IOOptions(), nullptr).ok());
  EXPECT_EQ(contents(path), written);
}

}  // namespace
}  // namespace backplane::rocks
