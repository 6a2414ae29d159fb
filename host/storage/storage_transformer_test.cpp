// Transformers that wait, that use nonces, whose keys become stale, that are replaced at run time, and that lose their key.
#include <gtest/gtest.h>

#include <atomic>
#include <map>

#include "backplane/points/storage_feed.hpp"
#include "base/io_loop.hpp"
#include "storage/encoded_storage.hpp"
#include "storage/memory_storage.hpp"

namespace backplane {
namespace {

constexpr std::string_view kMap = R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","uid":"u"},"data":{"a":"b"}})";

// A transformer whose output is "key:nonce:storage key:bytes". It has several encryption keys, and writes with the last one.
class Sealing final : public StorageTransformer {
 public:
  Sealing(Executor& executor, std::vector<std::string> keys) : executor_(executor), keys_(std::move(keys)) {}

  Task<Result<SharedBytes>> to_storage(std::string key, SharedBytes bytes) const override {
    co_await resume_on(executor_);
    co_return SharedBytes(keys_.back() + ":" + std::to_string(++nonces_) + ":" + key + ":" + std::string(bytes.view()));
  }
  Task<Result<Plain>> from_storage(std::string key, SharedBytes bytes) const override {
    co_await resume_on(executor_);
    ++opened;
    std::string_view rest = bytes.view();
    const auto word = [&rest] {
      const auto colon = rest.find(':');
      const std::string_view found = rest.substr(0, colon);
      rest.remove_prefix(colon == std::string_view::npos ? rest.size() : colon + 1);
      return found;
    };
    const std::string_view by = word();
    if (by == "throw") throw std::runtime_error("a bug");
    word();
    if (std::find(keys_.begin(), keys_.end(), by) == keys_.end()) co_return internal_error("no key " + std::string(by));
    if (word() != key) co_return internal_error("sealed for another key");
    co_return Plain{SharedBytes(std::string(rest)), by != keys_.back()};
  }

  mutable std::atomic<int> opened{0};

 private:
  Executor& executor_;
  const std::vector<std::string> keys_;
  mutable std::atomic<int> nonces_{0};
};

class ByResource final : public StorageTransformers {
 public:
  explicit ByResource(std::map<GroupResource, TransformerRef> rows) : rows_(std::move(rows)) {}
  TransformerRef find(const GroupResource& resource) const override {
    const auto found = rows_.find(resource);
    return found != rows_.end() ? found->second : nullptr;
  }

 private:
  const std::map<GroupResource, TransformerRef> rows_;
};

class StorageTransformerTest : public ::testing::TestWithParam<const char*> {
 protected:
  StorageTransformerTest() {
    loop_.start();
    other_.start();
    const Schema* type = core_schemas()->find(GroupVersionKind{"", "v1", "ConfigMap"});
    storage_.use_kind("/registry/configmaps/", {{"", "v1", "ConfigMap"}, type, {}, false, nullptr, {"", "configmaps"}});
    storage_.use_kind("/registry/secrets/", {{"", "v1", "ConfigMap"}, type, {}, false, nullptr, {"", "secrets"}});
    storage_.use_kind("/registry/e.com/foos/", {{"e.com", "v1", "Foo"}, nullptr, {}, false, nullptr, {"e.com", "foos"}});
  }
  ~StorageTransformerTest() override {
    loop_.stop();
    other_.stop();
  }

  std::shared_ptr<Sealing> seal_with(std::vector<std::string> keys) {
    auto sealing = std::make_shared<Sealing>(other_, std::move(keys));
    use({{{"", "configmaps"}, sealing}, {{"e.com", "foos"}, sealing}});
    return sealing;
  }
  void use(std::map<GroupResource, TransformerRef> rows) {
    EXPECT_TRUE(transformers_->set("kms", std::make_shared<ByResource>(std::move(rows))).ok());
  }
  template <class T>
  T run(Task<T> task) {
    return run_on(loop_, std::move(task));
  }
  // Runs the task, and checks that it ends on the executor on which it began.
  template <class T>
  T run_at_home(Task<T> task) {
    return run(checked(loop_, std::move(task)));
  }
  template <class T>
  static Task<T> checked(Executor& home, Task<T> task) {
    T result = co_await std::move(task);
    EXPECT_EQ(current_executor(), &home);
    co_return result;
  }
  void put(StorageBackend& storage, std::string key, std::string_view value) {
    TxnRequest request;
    request.puts.push_back({std::move(key), SharedBytes(std::string(value)), 0});
    const auto result = run_at_home(storage.txn(std::move(request)));
    ASSERT_TRUE(result.ok()) << result.status().message();
  }
  std::vector<KeyValue> range(StorageBackend& storage, std::string prefix = "/registry/") {
    RangeRequest request;
    request.end = prefix_end(prefix);
    request.start = std::move(prefix);
    auto result = run_at_home(storage.range(std::move(request)));
    EXPECT_TRUE(result.ok()) << result.status().message();
    return result.ok() ? std::move(result->items) : std::vector<KeyValue>();
  }
  std::string stored(const std::string& key) { return std::string(range(*backend_, key).at(0).value.view()); }
  ObjectStorage::Compared compare(const std::string& key, std::string_view worked) {
    auto compared = run_at_home(storage_.compare(key, SharedBytes(std::string(worked))));
    EXPECT_TRUE(compared.ok());
    return std::move(*compared);
  }

  IoLoop loop_{"test"}, other_{"plugin"};
  const std::unique_ptr<StorageBackend> backend_ = make_memory_storage(GetParam());
  const std::shared_ptr<PublishedTransformers> transformers_ = std::make_shared<PublishedTransformers>();
  EncodedStorage storage_{*backend_, transformers_};
  const std::string key_ = "/registry/configmaps/n/a";
};

INSTANTIATE_TEST_SUITE_P(Encodings, StorageTransformerTest, testing::Values("json", "protobuf"),
                         [](const auto& parameter) { return parameter.param; });

TEST_P(StorageTransformerTest, EachReadAndWriteWaitsForItAndResumes) {
  seal_with({"k1"});
  auto watch = storage_.watch("/registry/", backend_->committed_revision());
  put(storage_, key_, kMap);
  put(storage_, "/registry/secrets/n/a", kMap);
  put(storage_, "/registry/e.com/foos/n/a", R"({"apiVersion":"e.com/v1","kind":"Foo"})");
  EXPECT_TRUE(stored(key_).starts_with("k1:1:" + key_ + ":"));
  EXPECT_EQ(stored("/registry/secrets/").find("k1:"), std::string::npos) << "a resource without a transformer";
  EXPECT_TRUE(stored("/registry/e.com/").starts_with("k1:2:"));

  const auto all = range(storage_);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].value.view(), kMap);
  EXPECT_EQ(all[1].value.view(), R"({"apiVersion":"e.com/v1","kind":"Foo"})");
  EXPECT_EQ(all[2].value.view(), kMap);
  put(storage_, key_, kMap);
  std::vector<StorageEvent> events;
  while (events.size() < 4) {
    auto batch = run_at_home((*watch)->next());
    ASSERT_TRUE(batch.ok());
    events.insert(events.end(), batch->events.begin(), batch->events.end());
  }
  EXPECT_EQ(events[0].kv.value.view(), kMap);
  EXPECT_EQ(events[3].kv.value.view(), kMap);
  EXPECT_EQ(events[3].previous.view(), kMap);

  TxnRequest lost;
  lost.compares.push_back({key_, 0});
  const auto found = run_at_home(storage_.txn(std::move(lost)));
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->found.at(0).value.view(), kMap);
}

TEST_P(StorageTransformerTest, PagesAreReadUpToTheValueThatMustWait) {
  seal_with({"k1"});
  put(storage_, key_, kMap);
  put(storage_, "/registry/secrets/n/a", kMap);
  RangeRequest request;
  request.start = "/registry/";
  request.end = "/registry0";
  auto page = run(storage_.stored_range(std::move(request)));
  ASSERT_TRUE(page.ok());
  EXPECT_EQ(storage_.read_now(page->items, 0), 0U);
  run(storage_.read(page->items[0]));
  EXPECT_EQ(storage_.read_now(page->items, 1), 2U);
  for (const KeyValue& item : page->items) EXPECT_EQ(item.value.view(), kMap);
}

TEST_P(StorageTransformerTest, ValuesThatMustWaitWaitTogether) {
  seal_with({"k1"});
  for (int i = 0; i < 70; ++i) put(storage_, "/registry/configmaps/n/" + std::to_string(100 + i), kMap);
  RangeRequest request;
  request.start = "/registry/configmaps/";
  request.end = "/registry/configmaps0";
  auto page = run(storage_.stored_range(request));
  ASSERT_TRUE(page.ok());
  ASSERT_EQ(page->items.size(), 70U);
  EXPECT_EQ(run_at_home(storage_.read_some(page->items, 3)), 67U);
  EXPECT_NE(page->items[2].value.view(), kMap);
  EXPECT_EQ(page->items[3].value.view(), kMap);
  EXPECT_EQ(page->items[66].value.view(), kMap);
  EXPECT_NE(page->items[67].value.view(), kMap);
  const auto all = run_at_home(storage_.range(std::move(request)));
  ASSERT_TRUE(all.ok());
  for (const KeyValue& item : all->items) EXPECT_EQ(item.value.view(), kMap);
}

TEST_P(StorageTransformerTest, AnEncryptedValueWithoutATransformerIsAnError) {
  put(*backend_, key_, "k8s:enc:aescbc:v1:k:bytes");
  const auto found = range(storage_, key_);
  ASSERT_TRUE(found.at(0).unreadable);
  EXPECT_EQ(found.at(0).unreadable->message(),
            "unable to transform key \"/registry/configmaps/n/a\": identity transformer tried to read encrypted data");
}

TEST_P(StorageTransformerTest, AnotherNonceIsNoChange) {
  seal_with({"k1"});
  put(storage_, key_, kMap);
  const std::string before = stored(key_);
  const auto compared = compare(key_, kMap);
  EXPECT_TRUE(compared.same_bytes);
  EXPECT_EQ(compared.result.items.at(0).value.view(), kMap);
  put(storage_, key_, kMap);
  EXPECT_NE(stored(key_), before);
}

TEST_P(StorageTransformerTest, TheEventOfAnOwnWriteIsNotOpened) {
  const auto sealing = seal_with({"k1"});
  auto watch = storage_.watch_changes("/registry/", backend_->committed_revision());
  put(storage_, key_, kMap);
  auto batch = run((*watch)->next());
  ASSERT_TRUE(batch.ok());
  EXPECT_EQ(batch->events.at(0).kv.value.view(), kMap);
  EXPECT_EQ(sealing->opened, 0);
}

TEST_P(StorageTransformerTest, WhatAnOldKeyOrNoKeyWroteIsStale) {
  put(*backend_, key_, "k1:1:" + key_ + ":" + std::string(kMap));
  seal_with({"k1"});
  if (std::string_view(GetParam()) == "json") {
    EXPECT_TRUE(compare(key_, kMap).same_bytes);
  }
  seal_with({"k1", "k2"});
  const auto compared = compare(key_, kMap);
  EXPECT_FALSE(compared.same_bytes);
  EXPECT_EQ(compared.result.items.at(0).value.view(), kMap);
  put(storage_, key_, kMap);
  EXPECT_TRUE(stored(key_).starts_with("k2:"));
  EXPECT_TRUE(compare(key_, kMap).same_bytes);
}

TEST_P(StorageTransformerTest, ItIsReplacedWhileTheStoreIsInUse) {
  put(storage_, key_, kMap);
  EXPECT_EQ(range(storage_).at(0).value.view(), kMap);
  seal_with({"k1"});
  put(storage_, key_, kMap);
  EXPECT_TRUE(stored(key_).starts_with("k1:"));
  EXPECT_EQ(transformers_->set("other", std::make_shared<ByResource>(std::map<GroupResource, TransformerRef>())).message(),
            "storage transformers are already registered by kms");
  EXPECT_TRUE(transformers_->set("kms", nullptr).ok());
  EXPECT_TRUE(range(storage_).at(0).unreadable) << "sealed, and nothing opens it";
  put(storage_, key_, kMap);
  EXPECT_EQ(range(storage_).at(0).value.view(), kMap);
}

TEST_P(StorageTransformerTest, WithoutItsKeyAnObjectIsUnreadableAndHidesNoOther) {
  seal_with({"k1"});
  put(storage_, key_, kMap);
  put(storage_, "/registry/secrets/n/a", kMap);
  put(*backend_, "/registry/configmaps/n/b", stored(key_));
  put(*backend_, "/registry/configmaps/n/c", "throw::");
  auto all = range(storage_);
  ASSERT_EQ(all.size(), 4U);
  EXPECT_FALSE(all[0].unreadable);
  EXPECT_NE(all[1].unreadable->message().find("sealed for another key"), std::string::npos);
  EXPECT_NE(all[2].unreadable->message().find("the storage transformer threw: a bug"), std::string::npos);
  EXPECT_FALSE(all[3].unreadable);
  seal_with({"k2"});
  all = range(storage_);
  EXPECT_EQ(all.at(0).unreadable->message(), "unable to transform key \"" + key_ + "\": Internal error occurred: no key k1");
  EXPECT_FALSE(all.at(3).unreadable);
}

}  // namespace
}  // namespace backplane
