#include "inspection.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "log_scan.hpp"
#include "records.hpp"

namespace backplane::rocks {
namespace {

namespace fs = std::filesystem;

class InspectionTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_NE(mkdtemp(directory_.data()), nullptr); }
  void TearDown() override {
    database_.reset();
    fs::remove_all(directory_);
  }

  void open() {
    auto opened = Database::open(directory_, nullptr);
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    database_ = std::move(*opened);
  }
  void put(Family family, const std::string& key, const std::string& value) {
    const Database::Reading reading(*database_);
    ASSERT_TRUE(reading.db().Put(rocksdb::WriteOptions(), reading.family(family), key, value).ok());
  }
  // Writes versions of keys, at revisions up to 100.
  void fill() {
    put(Family::kDefault, "revision", number(100));
    for (int i = 0; i < 100; ++i) {
      std::string record;
      append_version(record, {i + 1, i + 1, 0, std::string(1000, 'x')});
      put(Family::kLive, "/registry/a/" + std::to_string(i), record);
    }
  }
  StoreCheckPart check_all() {
    StoreCheckPart all;
    std::string from;
    do {
      auto part = check_part(*database_, from);
      EXPECT_TRUE(part.ok()) << part.status().message();
      all.rows += part->rows;
      all.bytes += part->bytes;
      all.damage.insert(all.damage.end(), part->damage.begin(), part->damage.end());
      from = part->next;
    } while (!from.empty());
    return all;
  }
  // Inverts the byte at `offset` in a file with this extension that is larger; returns the file's path.
  static std::string damage(const std::string& directory, const std::string& extension, std::uint64_t offset) {
    for (const auto& entry : fs::directory_iterator(directory)) {
      if (entry.path().extension() != extension || entry.file_size() <= offset) continue;
      std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
      file.seekg(static_cast<std::streamoff>(offset));
      const char byte = static_cast<char>(file.get());
      file.seekp(static_cast<std::streamoff>(offset));
      file.put(static_cast<char>(~byte));
      return entry.path();
    }
    return {};
  }

  std::string directory_ = fs::temp_directory_path() / "inspection-test-XXXXXX";
  std::unique_ptr<Database> database_;
};

TEST_F(InspectionTest, ReadsEveryRow) {
  open();
  fill();
  const auto all = check_all();
  EXPECT_EQ(all.rows, 101);
  EXPECT_GT(all.bytes, 100'000);
  EXPECT_TRUE(all.damage.empty());
}

TEST_F(InspectionTest, FindsRowsThatCannotBeRight) {
  open();
  fill();
  put(Family::kLive, "/registry/a/new", [] {
    std::string record;
    append_version(record, {101, 101, 0, "x"});
    return record;
  }());
  put(Family::kLog, "short", "P");
  const auto all = check_all();
  ASSERT_EQ(all.damage.size(), 2u);
  EXPECT_EQ(all.damage[0].file, "table live");
  EXPECT_EQ(all.damage[0].what, "the row of \"/registry/a/new\" has an impossible revision");
  EXPECT_EQ(all.damage[1].what, "the row of \"short\" is not a log record");
}

TEST_F(InspectionTest, NamesTheSegmentAndTheOffsetOfADamagedByte) {
  open();
  fill();
  ASSERT_TRUE(database_->close().ok());
  const std::string path = damage(directory_, ".sst", 40'000);  // only the live rows have that many bytes
  ASSERT_FALSE(path.empty());
  open();
  const auto facts = read_facts(*database_);
  ASSERT_TRUE(facts.ok());
  EXPECT_GT(facts->file_bytes, 100'000);
  EXPECT_GT(facts->free_bytes, 0);
  const auto all = check_all();
  ASSERT_FALSE(all.damage.empty());
  EXPECT_EQ(fs::path(all.damage[0].file).filename(), fs::path(path).filename());
  EXPECT_GT(all.damage[0].offset, 0);
  EXPECT_LE(all.damage[0].offset, 40'000);
}

TEST_F(InspectionTest, NamesTheLogAndTheOffsetOfADamagedRecord) {
  open();
  fill();
  // Copies the store as a crash would leave it: the rows are in the log only.
  const std::string copy = directory_ + "/copy";
  fs::create_directory(copy);
  for (const auto& entry : fs::directory_iterator(directory_)) {
    if (entry.is_regular_file()) fs::copy(entry.path(), copy + "/" + entry.path().filename().string());
  }
  database_.reset();
  const std::string path = damage(copy, ".log", 20'000);
  ASSERT_FALSE(path.empty());
  const auto opened = Database::open(copy, nullptr);
  ASSERT_FALSE(opened.ok());
  const auto found = parse_damage(opened.status().message());
  EXPECT_EQ(found.file, path);
  EXPECT_GT(found.offset, 18'000);
  EXPECT_LE(found.offset, 20'000);
}

TEST(ParseDamage, ReadsWhatRocksdbSays) {
  const auto found =
      parse_damage("Corruption: block checksum mismatch: stored = 1, computed = 2, type = 1  in /d/000012.sst offset 77 size 4096");
  EXPECT_EQ(found.file, "/d/000012.sst");
  EXPECT_EQ(found.offset, 77);
  const auto unknown = parse_damage("Corruption: bad");
  EXPECT_EQ(unknown.file, "");
  EXPECT_EQ(unknown.offset, -1);
  EXPECT_EQ(unknown.what, "Corruption: bad");
}

}  // namespace
}  // namespace backplane::rocks
