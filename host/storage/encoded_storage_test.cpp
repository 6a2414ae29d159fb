#include "storage/encoded_storage.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/io_loop.hpp"
#include "storage/memory_storage.hpp"

namespace backplane {
namespace {

constexpr std::string_view kPrefix = "/registry/services/specs/";
constexpr std::string_view kService =
    R"({"kind":"PodTemplate","apiVersion":"v1","metadata":{"name":"a","uid":"u"},"template":{"metadata":{},"spec":{"containers":null}}})";

const Schema* stored_type() { return core_schemas()->find(GroupVersionKind{"", "v1", "PodTemplate"}); }

// Bound to the key, as encryption is: other bytes, and other keys' bytes, cannot be read.
class Reversing final : public StorageTransformer {
 public:
  Result<SharedBytes> to_storage(std::string_view key, SharedBytes bytes) const override {
    std::string text(bytes.view());
    std::reverse(text.begin(), text.end());
    return SharedBytes("reversed:" + std::string(key) + ":" + text);
  }
  Result<SharedBytes> from_storage(std::string_view key, SharedBytes bytes) const override {
    const std::string head = "reversed:" + std::string(key) + ":";
    if (!bytes.view().starts_with(head)) return internal_error("no key fits");
    std::string text(bytes.view().substr(head.size()));
    std::reverse(text.begin(), text.end());
    return SharedBytes(std::move(text));
  }
};

class EncodedStorageTest : public ::testing::Test {
 protected:
  EncodedStorageTest() {
    loop_.start();
    open("protobuf");
  }
  ~EncodedStorageTest() override { loop_.stop(); }

  void open(std::string form, EncodedStorage::Transformers transformers = {}) {
    if (!backend_) backend_ = make_memory_storage(std::move(form));
    storage_ = std::make_unique<EncodedStorage>(*backend_, std::move(transformers));
    storage_->use_schema(kPrefix, stored_type());
    storage_->use_schema("/registry/e.com/foos/", nullptr);
  }
  Revision put(StorageBackend& storage, std::string key, std::string_view value) {
    TxnRequest request;
    request.puts.push_back({std::move(key), SharedBytes(std::string(value)), 0});
    auto result = run(storage.txn(std::move(request)));
    EXPECT_TRUE(result.ok()) << result.status().message();
    return result->revision;
  }
  Result<std::string> get(StorageBackend& storage, std::string key) {
    RangeRequest request;
    request.start = std::move(key);
    auto result = run(storage.range(std::move(request)));
    if (!result.ok()) return std::move(result.status());
    return result->items.empty() ? std::string() : std::string(result->items.front().value.view());
  }
  template <class T>
  T run(Task<T> task) {
    return run_on(loop_, std::move(task));
  }
  static std::string key(std::string_view name) { return std::string(kPrefix).append(name); }

  IoLoop loop_{"test"};
  std::unique_ptr<StorageBackend> backend_;
  std::unique_ptr<EncodedStorage> storage_;
};

TEST_F(EncodedStorageTest, BuiltInKindsAreWrittenAsTheBackendWantsThem) {
  put(*storage_, key("n/a"), kService);
  EXPECT_TRUE(find_codec("protobuf")->wrote(*get(*backend_, key("n/a"))));
  EXPECT_EQ(*get(*storage_, key("n/a")), kService);
}

TEST_F(EncodedStorageTest, CustomResourcesAndWhateverElseIsKeptStayAsTheyAre) {
  put(*storage_, "/registry/e.com/foos/n/f", R"({"apiVersion":"e.com/v1","kind":"Foo"})");
  put(*storage_, "/registry/other", "plain words");
  EXPECT_EQ(*get(*backend_, "/registry/e.com/foos/n/f"), R"({"apiVersion":"e.com/v1","kind":"Foo"})");
  EXPECT_EQ(*get(*storage_, "/registry/other"), "plain words");
}

TEST_F(EncodedStorageTest, WhatWasWrittenInAnotherFormIsReadAllTheSame) {
  put(*backend_, key("n/json"), kService);
  EXPECT_EQ(*get(*storage_, key("n/json")), kService);
  put(*storage_, key("n/protobuf"), kService);
  const auto bytes = *get(*backend_, key("n/protobuf"));
  backend_.reset();
  open("json");
  put(*backend_, key("n/protobuf"), bytes);
  EXPECT_EQ(*get(*storage_, key("n/protobuf")), kService);
}

TEST_F(EncodedStorageTest, WatchesAndLostTransactionsSpeakJson) {
  auto watch = storage_->watch("/registry/", 0);
  ASSERT_TRUE(watch.ok());
  put(*storage_, key("n/a"), kService);
  put(*storage_, key("n/a"), kService);
  std::vector<StorageEvent> events;
  while (events.size() < 2) {
    auto batch = run((*watch)->next());
    ASSERT_TRUE(batch.ok());
    events.insert(events.end(), batch->events.begin(), batch->events.end());
  }
  EXPECT_EQ(events[1].kv.value.view(), kService);
  EXPECT_EQ(events[1].previous.view(), kService);
  TxnRequest request;
  request.compares.push_back({key("n/a"), 0});
  auto lost = run(storage_->txn(std::move(request)));
  ASSERT_TRUE(lost.ok());
  ASSERT_EQ(lost->found.size(), 1u);
  EXPECT_EQ(lost->found.front().value.view(), kService);
}

TEST_F(EncodedStorageTest, TransformersStandBetweenCodecAndBackend) {
  open("protobuf", {std::make_shared<Reversing>()});
  put(*storage_, key("n/a"), kService);
  EXPECT_TRUE(get(*backend_, key("n/a"))->starts_with("reversed:" + key("n/a")));
  EXPECT_EQ(*get(*storage_, key("n/a")), kService);
}

TEST_F(EncodedStorageTest, WhatCannotBeReadIsAnErrorThatNamesTheKey) {
  put(*backend_, key("n/damaged"), std::string_view("k8s\0\x0a\x40", 6));
  const auto damaged = get(*storage_, key("n/damaged"));
  ASSERT_FALSE(damaged.ok());
  EXPECT_EQ(damaged.status().reason(), Reason::kInternalError);
  EXPECT_NE(damaged.status().message().find(key("n/damaged")), std::string::npos) << damaged.status().message();
  open("protobuf", {std::make_shared<Reversing>()});
  put(*backend_, key("n/plain"), kService);
  EXPECT_NE(get(*storage_, key("n/plain")).status().message().find("no key fits"), std::string::npos);
}

}  // namespace
}  // namespace backplane
