// Tests of the embedded store: the tests of every store, the tests of the watch cache with it, and tests of RocksDB only.
#include "rocksdb_storage.hpp"

#include <filesystem>
#include <fstream>
#include <thread>

#include "storage/storage_conformance.hpp"
#include "watchcache/cache_conformance.hpp"

namespace backplane {
namespace {

BackendMaker rocksdb() {
  return {"Rocksdb", [](const std::string& directory) {
            StorageBackendConfig config;
            config.data_dir = directory;
            // The crash test covers the disk; syncing here would only take time.
            config.unsafe_no_fsync = true;
            return open_rocksdb_storage(config);
          }};
}

INSTANTIATE_TEST_SUITE_P(Rocksdb, StorageConformance, testing::Values(rocksdb()), maker_name);
INSTANTIATE_TEST_SUITE_P(Rocksdb, DurableStorageConformance, testing::Values(rocksdb()), maker_name);
INSTANTIATE_TEST_SUITE_P(Rocksdb, OwnedStorageConformance, testing::Values(rocksdb()), maker_name);
INSTANTIATE_TEST_SUITE_P(Rocksdb, CacheConformance, testing::Values(rocksdb()), maker_name);

TEST(RocksdbStorage, ARevisionThatWasRaisedIsAndStaysTheStores) {
  OpenStore store(rocksdb());
  const Revision first = store.put("/a", "1");
  auto watch = store->watch("/", first);
  ASSERT_TRUE(watch.ok());
  const auto raise = [&](Revision revision) { return store.run(store->raise_revision(revision)); };
  ASSERT_TRUE(raise(5000).ok());
  EXPECT_EQ(store.newest(), 5000);
  const auto batch = store.run((*watch)->next());
  ASSERT_TRUE(batch.ok());
  EXPECT_TRUE(batch->events.empty());
  EXPECT_EQ(batch->revision, 5000);
  EXPECT_EQ(store.get("/a", 4000), "1");
  ASSERT_TRUE(raise(10).ok());
  EXPECT_EQ(store.newest(), 5000);
  watch->reset();
  store.reopen();
  EXPECT_EQ(store.newest(), 5000);
  EXPECT_EQ(store.put("/b", "2"), 5001);
}

// Regression: the first read of a key that a file might have, but has not, reported damage.
TEST(RocksdbStorage, AnAbsentKeyOfAFileThatWasNotReadIsNotDamaged) {
  OpenStore store(rocksdb());
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 20; ++i) store.put("/k/" + std::to_string(i), std::to_string(round));
    store.reopen();
    for (int i = 0; i < 20; ++i) {
      RangeRequest request;
      request.start = "/k/" + std::to_string(i) + "-absent";
      const auto found = store.run(store->range(request));
      ASSERT_TRUE(found.ok()) << round << " " << i << ": " << found.status().message();
      EXPECT_TRUE(found->items.empty());
    }
  }
}

TEST(RocksdbStorage, ADamagedFileIsAnErrorAndNotAnAnswer) {
  OpenStore store(rocksdb());
  for (int i = 0; i < 1000; ++i) store.put("/k/" + std::to_string(i), std::string(500, static_cast<char>('a' + i % 26)));
  ASSERT_TRUE(store.run(store->stop()).ok());
  std::size_t changed = 0;
  for (const auto& file : std::filesystem::directory_iterator(store.directory())) {
    if (file.path().extension() != ".sst" || file.file_size() < 100'000) continue;
    std::fstream bytes(file.path(), std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekp(50'000);
    bytes.write("damage", 6);
    ++changed;
  }
  ASSERT_GT(changed, 0u);
  auto opened = rocksdb().open(store.directory());
  Status status = opened.ok() ? Status{} : opened.status();
  if (opened.ok()) {
    RangeRequest request;
    request.start = "/k/";
    request.end = "/k0";
    status = store.run((*opened)->range(request)).status();
    // A background compaction may have found the damage first; then stop() reports it.
    const Status stopped = store.run((*opened)->stop());
    EXPECT_TRUE(stopped.ok() || stopped.message().find("Corruption") != std::string::npos) << stopped.message();
  }
  EXPECT_EQ(status.reason(), Reason::kInternalError);
  EXPECT_NE(status.message().find("Corruption"), std::string::npos) << status.message();
}

// Copies the directory of an open store, as a power failure would leave it; returns the newest log of the copy.
std::filesystem::path copy_of(OpenStore& store, const ScratchDirectory& into) {
  std::filesystem::copy(store.directory(), into.path(), std::filesystem::copy_options::recursive);
  std::filesystem::path log;
  for (const auto& file : std::filesystem::directory_iterator(into.path())) {
    if (file.path().extension() == ".log" && (log.empty() || file.path() > log)) log = file.path();
  }
  return log;
}

// Regression: acknowledged records after the damage were silently dropped.
TEST(RocksdbStorage, DamageInTheMiddleOfTheLogEndsTheStart) {
  OpenStore store(rocksdb());
  for (int i = 0; i < 1000; ++i) store.put("/k/" + std::to_string(i), std::string(500, 'x'));
  const ScratchDirectory copied;
  const auto log = copy_of(store, copied);
  ASSERT_GT(std::filesystem::file_size(log), 400'000u);
  {
    std::fstream bytes(log, std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekp(200'000);
    bytes.write("damage", 6);
  }
  const auto opened = rocksdb().open(copied.path());
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.status().reason(), Reason::kInternalError);
  EXPECT_NE(opened.status().message().find("is damaged and is not changed"), std::string::npos) << opened.status().message();
}

// Regression: the store opened as if the log had been empty.
TEST(RocksdbStorage, AMissingNewestLogMakesStartupFail) {
  OpenStore store(rocksdb());
  for (int i = 0; i < 100; ++i) store.put("/k/" + std::to_string(i), std::string(500, 'x'));
  const ScratchDirectory copied;
  const auto log = copy_of(store, copied);
  std::filesystem::remove(log);
  const auto opened = rocksdb().open(copied.path());
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.status().reason(), Reason::kInternalError);
  EXPECT_NE(opened.status().message().find("its log " + log.filename().string() + " is missing"), std::string::npos)
      << opened.status().message();
}

TEST(RocksdbStorage, AStoreThatWasClosedNeedsNoLog) {
  OpenStore store(rocksdb());
  for (int i = 0; i < 100; ++i) store.put("/k/" + std::to_string(i), std::string(500, 'x'));
  const Revision before = store->committed_revision();
  ASSERT_TRUE(store.run(store->stop()).ok());
  const ScratchDirectory copied;
  std::filesystem::remove(copy_of(store, copied));
  auto opened = rocksdb().open(copied.path());
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  EXPECT_EQ((*opened)->committed_revision(), before);
  EXPECT_TRUE(store.run((*opened)->stop()).ok());
}

// The size of the log without the zeros that are reserved for further records.
std::uintmax_t written_size(const std::filesystem::path& log) {
  std::ifstream file(log, std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  return bytes.find_last_not_of('\0') + 1;
}

TEST(RocksdbStorage, ALogThatWasCutShortLosesItsLastRecordOnly) {
  OpenStore store(rocksdb());
  for (int i = 0; i < 100; ++i) store.put("/k/" + std::to_string(i), std::string(500, 'x'));
  const ScratchDirectory copied;
  const auto log = copy_of(store, copied);
  std::filesystem::resize_file(log, written_size(log) - 7);
  auto opened = rocksdb().open(copied.path());
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  EXPECT_EQ((*opened)->committed_revision(), store->committed_revision() - 1);
  EXPECT_TRUE(store.run((*opened)->stop()).ok());
}

TEST(RocksdbStorage, AStartAfterACrashIsFollowedByWritingOutWhatTheLogGaveBack) {
  OpenStore store(rocksdb());
  for (int i = 0; i < 100; ++i) store.put("/k/" + std::to_string(i), std::string(500, 'x'));
  const ScratchDirectory copied;
  const auto log = copy_of(store, copied);
  auto opened = rocksdb().open(copied.path());
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  EXPECT_EQ((*opened)->committed_revision(), store->committed_revision());
  // Entries that the next startup would have to replay are flushed even without writes.
  while (std::filesystem::exists(log)) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_TRUE(store.run((*opened)->stop()).ok());
}

TEST(RocksdbStorage, CompactionGoesOnWhereItEnded) {
  OpenStore store(rocksdb());
  for (int i = 0; i < 5000; ++i) store.put("/k/" + std::to_string(i % 10), "x" + std::to_string(i));
  for (const Revision to : {10, 11, 2500, 2500, 5001}) {
    ASSERT_TRUE(store.run(store->compact(to)).ok());
    EXPECT_EQ(store.range({"/k/", "/k0", 0, 0, false, true, false}).count, 10);
  }
  EXPECT_EQ(store.get("/k/9"), "x4999");
  store.reopen();
  ASSERT_TRUE(store.run(store->compact(store->committed_revision())).ok());
  EXPECT_EQ(store.get("/k/9"), "x4999");
}

TEST(RocksdbStorage, CompactionReleasesTheSpaceOfOldVersions) {
  OpenStore store(rocksdb());
  for (int i = 0; i < 3000; ++i) store.put("/k/" + std::to_string(i % 10), std::string(1000, 'x'));
  ASSERT_TRUE(store.run(store->compact(store->committed_revision())).ok());
  EXPECT_EQ(store.range({"/k/", "/k0", 0, 0, false, true, false}).count, 10);
  EXPECT_EQ(store.put("/k/0", "y"), 3002);
}

}  // namespace
}  // namespace backplane
