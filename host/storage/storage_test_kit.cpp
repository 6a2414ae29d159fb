#include "storage/storage_test_kit.hpp"

#include <cstdlib>
#include <filesystem>

#include "backplane/points/storage_feed.hpp"

namespace backplane {

ScratchDirectory::ScratchDirectory() {
  std::string name = (std::filesystem::temp_directory_path() / "backplane-store-XXXXXX").string();
  if (mkdtemp(name.data()) != nullptr) path_ = name;
}
ScratchDirectory::~ScratchDirectory() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

OpenStore::OpenStore(const BackendMaker& maker) : maker_(maker) {
  loop_.start();
  auto opened = maker_.open(directory_.path());
  EXPECT_TRUE(opened.ok()) << opened.status().message();
  storage_ = std::move(*opened);
}

OpenStore::~OpenStore() {
  EXPECT_TRUE(run(storage_->stop()).ok());
  loop_.stop();
}

void OpenStore::reopen() {
  EXPECT_TRUE(run(storage_->stop()).ok());
  storage_.reset();
  auto opened = maker_.open(directory_.path());
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  storage_ = std::move(*opened);
}

TxnResult OpenStore::commit(TxnRequest request) {
  auto result = run(storage_->txn(std::move(request)));
  EXPECT_TRUE(result.ok()) << result.status().message();
  return result.ok() ? std::move(*result) : TxnResult{};
}

Revision OpenStore::put(std::string key, std::string value, LeaseId lease) {
  TxnRequest request;
  request.puts.push_back({std::move(key), SharedBytes(std::move(value)), lease});
  return commit(std::move(request)).revision;
}

Revision OpenStore::remove(std::string key) {
  TxnRequest request;
  request.removes.push_back(std::move(key));
  return commit(std::move(request)).revision;
}

Revision OpenStore::newest() {
  const auto revision = run(storage_->current_revision());
  EXPECT_TRUE(revision.ok()) << revision.status().message();
  if (storage_->committed_revision() != 0) {
    EXPECT_EQ(storage_->committed_revision(), revision.value());
  }
  return revision.value();
}

RangeResult OpenStore::range(RangeRequest request) {
  auto result = run(storage_->range(std::move(request)));
  EXPECT_TRUE(result.ok()) << result.status().message();
  return result.ok() ? std::move(*result) : RangeResult{};
}

std::string OpenStore::get(std::string key, Revision revision) {
  RangeRequest request;
  request.start = std::move(key);
  request.revision = revision;
  const auto result = range(std::move(request));
  return result.items.empty() ? "-" : std::string(result.items[0].value.view());
}

std::string OpenStore::dump(std::string prefix, Revision revision) {
  RangeRequest request;
  request.end = prefix_end(prefix);
  request.start = std::move(prefix);
  request.revision = revision;
  std::string text;
  for (const auto& kv : range(std::move(request)).items) {
    if (!text.empty()) text += ' ';
    text += kv.key + '=' + std::string(kv.value.view());
  }
  return text;
}

std::string OpenStore::next(StorageWatch& watch, std::size_t count) {
  std::string text;
  for (std::size_t seen = 0; seen < count;) {
    auto batch = run(watch.next());
    EXPECT_TRUE(batch.ok()) << batch.status().message();
    if (!batch.ok()) return text;
    for (const auto& event : batch->events) {
      if (!text.empty()) text += ' ';
      const bool put = event.type == StorageEvent::Type::kPut;
      text += (put ? '+' : '-') + event.kv.key + (put ? '=' + std::string(event.kv.value.view()) : "");
      ++seen;
    }
  }
  return text;
}

}  // namespace backplane
