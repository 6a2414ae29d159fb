#include "storage/store_snapshot.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "storage/memory_storage.hpp"
#include "storage/storage_test_kit.hpp"
#include "storage/store_usage.hpp"

namespace backplane {
namespace {

BackendMaker memory() {
  return {"Memory", [](const std::string&) -> Result<std::unique_ptr<StorageBackend>> { return make_memory_storage(); }};
}

class StoreSnapshot : public testing::Test {
 protected:
  StoreSnapshot() {
    for (int i = 0; i < 700; ++i) store.put("/registry/configmaps/default/c" + std::to_string(i), std::string(20, 'v') + std::to_string(i));
    store.put("/registry/configmaps/default/c5", "changed");
    store.put("/registry/masterleases/10.0.0.1", "of a server");
    store.put("/registry.backplane/other", "not an object");
  }
  std::string path() const { return directory.path() + "/snapshot"; }
  void take() {
    auto writer = SnapshotWriter::create(path());
    ASSERT_TRUE(writer.ok()) << writer.status().message();
    const auto revision = store.run(snapshot_store(*store, *writer, "the store", {}));
    ASSERT_TRUE(revision.ok()) << revision.status().message();
    EXPECT_EQ(*revision, store.newest());
    const auto summary = writer->finish();
    ASSERT_TRUE(summary.ok()) << summary.status().message();
    EXPECT_EQ(summary->keys, 700u);
  }
  // The error of verify_snapshot(); empty: success.
  std::string fault() const {
    auto reader = SnapshotReader::open(path());
    if (!reader.ok()) return reader.status().message();
    const auto verified = verify_snapshot(*reader, {});
    return verified.ok() ? "" : verified.status().message();
  }
  std::string read() const {
    std::ifstream file(path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void write(const std::string& bytes) const { std::ofstream(path(), std::ios::binary | std::ios::trunc) << bytes; }

  ScratchDirectory directory;
  OpenStore store{memory()};
};

TEST_F(StoreSnapshot, HoldsTheObjectsAtOneRevision) {
  take();
  auto reader = SnapshotReader::open(path());
  ASSERT_TRUE(reader.ok()) << reader.status().message();
  EXPECT_EQ(reader->header().source, "the store");
  EXPECT_EQ(reader->header().revision, store.newest());
  const auto verified = verify_snapshot(*reader, {});
  ASSERT_TRUE(verified.ok()) << verified.status().message();
  ASSERT_EQ(verified->items.size(), 700u);
  EXPECT_EQ(reader->summary().keys, 700u);
  const auto last = reader->read(verified->items.back().place);
  ASSERT_TRUE(last.ok());
  EXPECT_EQ(last->key, "/registry/configmaps/default/c5");
  EXPECT_EQ(last->value.view(), "changed");
}

TEST_F(StoreSnapshot, EveryDamagedByteIsFound) {
  take();
  const std::string good = read();
  ASSERT_EQ(fault(), "");
  for (std::size_t at = 0; at < good.size(); at += at < 150 || at + 150 > good.size() ? 1 : 997) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x10);
    write(bad);
    ASSERT_NE(fault(), "") << at;
  }
}

TEST_F(StoreSnapshot, NamesTheOffset) {
  take();
  std::string bytes = read();
  const auto at = bytes.find("changed");
  bytes[at] = 'X';
  write(bytes);
  const std::string message = fault();
  const auto offset = std::stoull(message.substr(message.rfind(' ')));
  EXPECT_LT(offset, at);
  EXPECT_GT(offset + 100, at) << message;
}

TEST_F(StoreSnapshot, WhatIsCutOffOrAddedOrLeftOutIsFound) {
  take();
  const std::string good = read();
  for (const std::size_t size : {good.size() - 1, good.size() / 2, std::size_t{100}, std::size_t{10}, std::size_t{0}}) {
    write(good.substr(0, size));
    EXPECT_NE(fault(), "") << size;
  }
  write(good + "x");
  EXPECT_NE(fault(), "");
  // A whole record is missing: the checksum of each frame is correct, but the digest is not.
  auto reader = SnapshotReader::open(path());
  ASSERT_TRUE(reader.ok());
  ASSERT_TRUE(reader->next().ok());
  const auto begin = reader->place().offset, end = reader->offset();
  write(good.substr(0, begin) + good.substr(end));
  EXPECT_NE(fault().find("records are missing"), std::string::npos);
}

TEST_F(StoreSnapshot, AnUnfinishedWriterLeavesNoFile) {
  {
    auto writer = SnapshotWriter::create(path());
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE(writer->begin({1, "now", "here"}).ok());
    EXPECT_EQ(SnapshotWriter::create(path()).status().reason(), Reason::kConflict);
    EXPECT_FALSE(std::filesystem::exists(path()));
  }
  EXPECT_FALSE(std::filesystem::exists(path()));
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

TEST_F(StoreSnapshot, AStoreThatCannotBeRaisedIsNotRestoredTo) {
  take();
  auto reader = SnapshotReader::open(path());
  const auto verified = verify_snapshot(*reader, {});
  OpenStore other{memory()};
  const auto restored = other.run(restore_snapshot(*reader, *verified, *other, {}));
  EXPECT_FALSE(restored.ok());
}

TEST_F(StoreSnapshot, UsageIsCountedByType) {
  store.put("/registry/services/specs/default/a", "12345");
  store.put("/registry/example.com/widgets/default/a", "1");
  const auto usage = store.run(read_usage(*store, {}));
  ASSERT_TRUE(usage.ok());
  EXPECT_EQ(usage->types.size(), 3u);
  EXPECT_EQ(usage->types.at("configmaps").objects, 700u);
  EXPECT_EQ(usage->types.at("services/specs").bytes, 5 + std::string("/registry/services/specs/default/a").size());
  EXPECT_EQ(usage->types.at("widgets.example.com").objects, 1u);
  EXPECT_EQ(usage->total.objects, 702u);
}

}  // namespace
}  // namespace backplane
