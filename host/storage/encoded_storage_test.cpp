#include "storage/encoded_storage.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/io_loop.hpp"
#include "engine/codec.hpp"
#include "storage/memory_storage.hpp"

namespace backplane {
namespace {

constexpr std::string_view kPrefix = "/registry/services/specs/";
constexpr std::string_view kMap = R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","uid":"u"},"data":{"a":"b"}})";

const Schema* stored_type() { return core_schemas()->find(GroupVersionKind{"", "v1", "ConfigMap"}); }

// Reverses the bytes. As with encryption, modified bytes and values of other keys cannot be read.
class Reversing final : public StorageTransformer {
 public:
  std::optional<Result<SharedBytes>> to_storage_now(std::string_view key, const SharedBytes& bytes) const override {
    std::string text(bytes.view());
    std::reverse(text.begin(), text.end());
    return Result<SharedBytes>(SharedBytes("reversed:" + std::string(key) + ":" + text));
  }
  std::optional<Result<Plain>> from_storage_now(std::string_view key, const SharedBytes& bytes) const override {
    const std::string head = "reversed:" + std::string(key) + ":";
    if (!bytes.view().starts_with(head)) return Result<Plain>(internal_error("no key fits"));
    std::string text(bytes.view().substr(head.size()));
    std::reverse(text.begin(), text.end());
    return Result<Plain>(Plain{SharedBytes(std::move(text))});
  }
};

class OneForAll final : public StorageTransformers {
 public:
  explicit OneForAll(TransformerRef transformer) : transformer_(std::move(transformer)) {}
  TransformerRef find(const GroupResource&) const override { return transformer_; }

 private:
  const TransformerRef transformer_;
};

class EncodedStorageTest : public ::testing::Test {
 protected:
  EncodedStorageTest() {
    loop_.start();
    open("protobuf");
  }
  ~EncodedStorageTest() override { loop_.stop(); }

  void open(std::string form, std::shared_ptr<const StorageTransformer> transformer = nullptr) {
    if (!backend_) backend_ = make_memory_storage(std::move(form));
    auto transformers = std::make_shared<PublishedTransformers>();
    EXPECT_TRUE(transformers->set("test", std::make_shared<OneForAll>(std::move(transformer))).ok());
    storage_ = std::make_unique<EncodedStorage>(*backend_, std::move(transformers));
    storage_->use_scheme(scheme_);
    storage_->use_kind(kPrefix, {{"", "v1", "ConfigMap"}, stored_type(), {}, false, nullptr});
    storage_->use_kind("/registry/secrets/",
                       {{"", "v1", "Secret"}, core_schemas()->find(GroupVersionKind{"", "v1", "Secret"}), {}, false, nullptr});
    storage_->use_kind("/registry/e.com/foos/", {{"e.com", "v1", "Foo"}, nullptr, {}, false, nullptr});
    storage_->use_kind("/registry/bars/", {{"e.com", "v1", "ConfigMap"}, stored_type(), {"e.com", "v1beta1", "ConfigMap"}, true, nullptr});
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

  // A Scheme in which the version e.com/v1beta1 has no schema, and a member has another name in it.
  static std::shared_ptr<const Scheme> make_scheme() {
    const GroupVersionKind now = {"e.com", "v1", "ConfigMap"}, before = {"e.com", "v1beta1", "ConfigMap"};
    const auto rename = [](std::string from, std::string to) {
      return [from, to](Object& object) {
        Value value = object.at(from);
        object.erase(from);
        object[to] = std::move(value);
        return Status();
      };
    };
    auto scheme = std::make_shared<Scheme>();
    EXPECT_TRUE(scheme->add_conversion(now, before, rename("data", "entries")).ok());
    EXPECT_TRUE(scheme->add_conversion(before, now, rename("entries", "data")).ok());
    return scheme;
  }

  IoLoop loop_{"test"};
  const std::shared_ptr<const Scheme> scheme_ = make_scheme();
  std::unique_ptr<StorageBackend> backend_;
  std::unique_ptr<EncodedStorage> storage_;
};

TEST_F(EncodedStorageTest, BuiltInKindsAreWrittenAsTheBackendWantsThem) {
  put(*storage_, key("n/a"), kMap);
  EXPECT_TRUE(find_codec("protobuf")->wrote(*get(*backend_, key("n/a"))));
  EXPECT_EQ(*get(*storage_, key("n/a")), kMap);
}

TEST_F(EncodedStorageTest, BytesOfAnotherEncodingOrVersionAreNotWhatAWriteStores) {
  const auto same = [&](const std::string& at, std::string_view worked) {
    const auto compared = run(storage_->compare(at, SharedBytes(std::string(worked))));
    EXPECT_TRUE(compared.ok()) << compared.status().message();
    EXPECT_EQ(compared->result.items.size(), 1U);
    EXPECT_EQ(compared->result.items.front().value.view(), worked);
    return compared->same_bytes;
  };
  put(*storage_, key("n/a"), kMap);
  EXPECT_TRUE(same(key("n/a"), kMap));
  put(*backend_, key("n/a"), std::string(kMap) + "\n");
  EXPECT_FALSE(same(key("n/a"), kMap));
  const std::string bar = "/registry/bars/n/a";
  constexpr std::string_view kBar = R"({"kind":"ConfigMap","apiVersion":"e.com/v1","metadata":{"name":"a"},"data":{"a":"b"}})";
  put(*storage_, bar, kBar);
  EXPECT_TRUE(same(bar, kBar));
  put(*backend_, bar, std::string(kBar) + "\n");
  EXPECT_FALSE(same(bar, kBar));
  open("protobuf", std::make_shared<Reversing>());
  put(*storage_, key("n/b"), kMap);
  EXPECT_TRUE(same(key("n/b"), kMap));
}

// An object with quotes, which need more bytes in JSON than in protobuf.
std::string quotes_map(std::size_t quotes) {
  std::string json(kMap);
  json.insert(json.rfind("b\"}}"), [quotes] {
    std::string text;
    for (std::size_t i = 0; i < quotes; ++i) text += "\\\"";
    return text;
  }());
  return json;
}

TEST_F(EncodedStorageTest, TheLimitOfAnEmbeddedStoreCountsWhatEtcdWouldGet) {
  backend_.reset();
  open("json");
  const auto code = [&](const std::string& at, std::string value) {
    TxnRequest request;
    request.puts.push_back({at, SharedBytes(std::move(value)), 0});
    return run(storage_->txn(std::move(request))).status().code();
  };
  EXPECT_EQ(code(key("n/a"), quotes_map(1'000'000)), 200) << "two million bytes of JSON, one of protobuf";
  EXPECT_EQ(code(key("n/b"), quotes_map(1'600'000)), 500);
  EXPECT_EQ(code("/registry/e.com/foos/a", quotes_map(1'000'000)), 500) << "custom resources are JSON in etcd, too";
  EXPECT_EQ(code("/registry/e.com/foos/a", quotes_map(700'000)), 200);
}

TEST_F(EncodedStorageTest, BuiltInKindsMayBeWrittenAsYaml) {
  backend_.reset();
  open("yaml");
  put(*storage_, key("n/a"), kMap);
  EXPECT_EQ(*get(*backend_, key("n/a")), "apiVersion: v1\ndata:\n  a: b\nkind: ConfigMap\nmetadata:\n  name: a\n  uid: u\n");
  EXPECT_EQ(*get(*storage_, key("n/a")), kMap);
  put(*storage_, "/registry/e.com/foos/n/f", R"({"apiVersion":"e.com/v1","kind":"Foo"})");
  EXPECT_EQ(*get(*backend_, "/registry/e.com/foos/n/f"), R"({"apiVersion":"e.com/v1","kind":"Foo"})"
                                                         "\n");
  // A server with another storage encoding reads the value, too.
  const std::string yaml = *get(*backend_, key("n/a"));
  backend_.reset();
  open("protobuf");
  put(*backend_, key("n/a"), yaml);
  EXPECT_EQ(*get(*storage_, key("n/a")), kMap);
}

TEST_F(EncodedStorageTest, CustomResourcesAndOtherValuesAreNotReencoded) {
  put(*storage_, "/registry/e.com/foos/n/f", R"({"apiVersion":"e.com/v1","kind":"Foo"})");
  put(*storage_, "/registry/other", "plain words");
  EXPECT_EQ(*get(*backend_, "/registry/e.com/foos/n/f"), R"({"apiVersion":"e.com/v1","kind":"Foo"})"
                                                         "\n");
  EXPECT_EQ(*get(*storage_, "/registry/e.com/foos/n/f"), R"({"apiVersion":"e.com/v1","kind":"Foo"})");
  EXPECT_EQ(*get(*storage_, "/registry/other"), "plain words");
}

TEST_F(EncodedStorageTest, WhatWasWrittenInAnotherFormIsReadAllTheSame) {
  put(*backend_, key("n/json"), kMap);
  EXPECT_EQ(*get(*storage_, key("n/json")), kMap);
  put(*storage_, key("n/protobuf"), kMap);
  const auto bytes = *get(*backend_, key("n/protobuf"));
  backend_.reset();
  open("json");
  put(*backend_, key("n/protobuf"), bytes);
  EXPECT_EQ(*get(*storage_, key("n/protobuf")), kMap);
}

// Two servers of one process may have different values of --etcd-prefix.
TEST_F(EncodedStorageTest, ErrorsNameKeysAsTheBackendOfEachStoreHasThem) {
  put(*backend_, key("n/junk"), "junk");
  EncodedStorage other(*backend_);
  other.use_kind(kPrefix, {{"", "v1", "ConfigMap"}, stored_type(), {}, false, nullptr});
  other.name_keys_by(BackendKeys("/cluster-b/"));
  const auto message = [this](EncodedStorage& storage) {
    RangeRequest request;
    request.start = key("n/junk");
    const auto found = run_on(loop_, storage.range(std::move(request)));
    return found.ok() && found->items.at(0).unreadable ? found->items[0].unreadable->message() : std::string();
  };
  EXPECT_NE(message(*storage_).find("key \"/registry/services/specs/n/junk\""), std::string::npos) << message(*storage_);
  EXPECT_NE(message(other).find("key \"/cluster-b/services/specs/n/junk\""), std::string::npos) << message(other);
  EXPECT_EQ(BackendKeys().of("/registry/a"), "/registry/a");
  EXPECT_EQ(BackendKeys("b").of("/other/a"), "/other/a");
}

// kube-apiserver reads CBOR regardless of its feature gate.
TEST_F(EncodedStorageTest, CborOfAnotherServerIsReadThoughItIsNotOffered) {
  constexpr std::string_view kFoo = R"({"apiVersion":"e.com/v1","kind":"Foo","metadata":{"name":"f"},"spec":{"a":[1,-2.5,null]}})";
  const auto bytes = cbor_codec().to_stored(nullptr, std::string(kFoo));
  ASSERT_TRUE(bytes.ok());
  put(*backend_, "/registry/e.com/foos/n/f", *bytes);
  const auto read = get(*storage_, "/registry/e.com/foos/n/f");
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(*read, kFoo);
}

TEST_F(EncodedStorageTest, JsonOfAnotherWriterIsBroughtIntoCanonicalForm) {
  put(*backend_, key("n/a"),
      R"({"apiVersion":"v1","kind":"ConfigMap","data":{"a":"b"},"metadata":{"uid":"u","name":"a"}})"
      "\n");
  EXPECT_EQ(*get(*storage_, key("n/a")), kMap);
}

TEST_F(EncodedStorageTest, WhatAnOlderServerStoredHasTodaysDefaultsWhenItIsRead) {
  put(*backend_, "/registry/secrets/n/a",
      R"({"kind":"Secret","apiVersion":"v1","metadata":{"name":"a"}})"
      "\n");
  EXPECT_EQ(*get(*storage_, "/registry/secrets/n/a"), R"({"kind":"Secret","apiVersion":"v1","metadata":{"name":"a"},"type":"Opaque"})");
}

TEST_F(EncodedStorageTest, AKindMayBeWrittenInAnotherVersionWhereOthersReadIt) {
  constexpr std::string_view kNow = R"({"kind":"ConfigMap","apiVersion":"e.com/v1","metadata":{"name":"a"},"data":{"a":"b"}})";
  put(*storage_, "/registry/bars/a", kNow);
  EXPECT_EQ(*get(*backend_, "/registry/bars/a"),
            R"({"kind":"ConfigMap","apiVersion":"e.com/v1beta1","metadata":{"name":"a"},"entries":{"a":"b"}})"
            "\n");
  EXPECT_EQ(*get(*storage_, "/registry/bars/a"), kNow);
}

TEST_F(EncodedStorageTest, JsonOfAnotherVersionOrWriterIsBroughtIntoTheStoredOneInEveryStore) {
  constexpr std::string_view kNow = R"({"kind":"ConfigMap","apiVersion":"e.com/v1","metadata":{"name":"a"},"data":{"a":"b"}})";
  const std::string before = R"({"kind":"ConfigMap","apiVersion":"e.com/v1beta1","metadata":{"name":"a"},"entries":{"a":"b"}})";
  const std::string pretty = R"({
    "apiVersion": "e.com/v1", "kind": "ConfigMap", "metadata": {"name": "a", "unknown": 1}, "data": {"a": "b"}
  })";
  for (const char* form : {"protobuf", "json"}) {
    storage_.reset();
    backend_.reset();
    open(form);
    for (const std::string& text : {before, before + "\n", pretty, pretty + "\n"}) {
      put(*backend_, "/registry/bars/a", text);
      const auto read = get(*storage_, "/registry/bars/a");
      ASSERT_TRUE(read) << form << ": " << text;
      EXPECT_EQ(*read, kNow) << form << ": " << text;
    }
  }
}

TEST_F(EncodedStorageTest, AVersionThatNothingConvertsFromIsUnreadable) {
  put(*backend_, key("n/a"),
      R"({"apiVersion":"v7","kind":"ConfigMap","metadata":{"name":"a"}})"
      "\n");
  RangeRequest request;
  request.start = key("n/a");
  const auto found = run(storage_->range(request));
  ASSERT_TRUE(found.ok());
  ASSERT_NE(found->items.at(0).unreadable, nullptr);
  EXPECT_NE(found->items[0].unreadable->message().find("no kind \"ConfigMap\" is registered for version \"v7\" in scheme"),
            std::string::npos)
      << found->items[0].unreadable->message();
}

TEST_F(EncodedStorageTest, EventsAndFoundValuesOfFailedTransactionsAreJson) {
  auto watch = storage_->watch("/registry/", 0);
  ASSERT_TRUE(watch.ok());
  put(*storage_, key("n/a"), kMap);
  put(*storage_, key("n/a"), kMap);
  std::vector<StorageEvent> events;
  while (events.size() < 2) {
    auto batch = run((*watch)->next());
    ASSERT_TRUE(batch.ok());
    events.insert(events.end(), batch->events.begin(), batch->events.end());
  }
  EXPECT_EQ(events[1].kv.value.view(), kMap);
  EXPECT_EQ(events[1].previous.view(), kMap);
  TxnRequest request;
  request.compares.push_back({key("n/a"), 0});
  auto lost = run(storage_->txn(std::move(request)));
  ASSERT_TRUE(lost.ok());
  ASSERT_EQ(lost->found.size(), 1u);
  EXPECT_EQ(lost->found.front().value.view(), kMap);
}

TEST_F(EncodedStorageTest, TransformersStandBetweenCodecAndBackend) {
  open("protobuf", std::make_shared<Reversing>());
  put(*storage_, key("n/a"), kMap);
  EXPECT_TRUE(get(*backend_, key("n/a"))->starts_with("reversed:" + key("n/a")));
  EXPECT_EQ(*get(*storage_, key("n/a")), kMap);
}

TEST_F(EncodedStorageTest, WhatCannotBeReadNamesItsKeyAndHidesNothingElse) {
  put(*storage_, key("n/a"), kMap);
  put(*backend_, key("n/damaged"), std::string_view("k8s\0\x0a\x40", 6));
  put(*backend_, key("n/junk"), "\x17\x2a");
  put(*backend_, key("n/short"), kMap.substr(0, kMap.size() - 5));
  put(*backend_, "/registry/e.com/foos/n/junk", "\x17\x2a");
  put(*storage_, key("n/z"), kMap);
  RangeRequest request;
  request.start = "/registry/";
  request.end = "/registry0";
  const auto all = run(storage_->range(request));
  ASSERT_TRUE(all.ok()) << all.status().message();
  ASSERT_EQ(all->items.size(), 6u);
  std::vector<std::string> unreadable;
  for (const KeyValue& item : all->items) {
    if (!item.unreadable) {
      EXPECT_EQ(item.value.view(), kMap);
      continue;
    }
    EXPECT_TRUE(item.value.empty());
    EXPECT_EQ(item.unreadable->code(), 500);
    EXPECT_EQ(item.unreadable->message().find("unable to transform key \"" + item.key + "\": "), 0u) << item.unreadable->message();
    unreadable.push_back(item.key);
  }
  EXPECT_EQ(unreadable, (std::vector<std::string>{"/registry/e.com/foos/n/junk", key("n/damaged"), key("n/junk"), key("n/short")}));
}

TEST_F(EncodedStorageTest, WhatCannotBeReadIsACorruptObjectWhereThoseCanBeRemoved) {
  storage_->log_corrupt_objects();
  put(*backend_, key("n/junk"), "\x17\x2a");
  RangeRequest request;
  request.start = key("n/junk");
  const auto found = run(storage_->range(request));
  ASSERT_TRUE(found.ok() && found->items.at(0).unreadable);
  EXPECT_EQ(found->items[0].unreadable->message(),
            "Internal error occurred: StorageError: corrupt object, Code: 7, Key: " + key("n/junk") +
                ", ResourceVersion: 0, AdditionalErrorMsg: object not decodable revision=" + std::to_string(found->items[0].mod_revision) +
                ": Internal error occurred: the value is no object in any form that is known here");
}

TEST_F(EncodedStorageTest, AWatchGoesOnOverWhatCannotBeRead) {
  auto watch = storage_->watch("/registry/", backend_->committed_revision());
  ASSERT_TRUE(watch.ok());
  put(*storage_, key("n/a"), kMap);
  put(*backend_, key("n/a"), "\x17\x2a");
  put(*storage_, key("n/a"), kMap);
  std::vector<StorageEvent> events;
  while (events.size() < 3) {
    auto batch = run((*watch)->next());
    ASSERT_TRUE(batch.ok()) << batch.status().message();
    events.insert(events.end(), batch->events.begin(), batch->events.end());
  }
  EXPECT_NE(events[1].kv.unreadable, nullptr);
  EXPECT_EQ(events[1].previous.view(), kMap);
  EXPECT_EQ(events[2].kv.unreadable, nullptr);
  EXPECT_EQ(events[2].kv.value.view(), kMap);
  EXPECT_TRUE(events[2].previous.empty());
}

TEST_F(EncodedStorageTest, ALostTransactionReturnsAValueThatCannotBeRead) {
  put(*backend_, key("n/a"), "\x17\x2a");
  TxnRequest request;
  request.compares.push_back({key("n/a"), 0});
  auto lost = run(storage_->txn(std::move(request)));
  ASSERT_TRUE(lost.ok()) << lost.status().message();
  ASSERT_EQ(lost->found.size(), 1u);
  EXPECT_NE(lost->found.front().unreadable, nullptr);
}

TEST_F(EncodedStorageTest, UnreadableValuesHaveTheErrorOfTheTransformer) {
  open("protobuf", std::make_shared<Reversing>());
  put(*backend_, key("n/plain"), kMap);
  RangeRequest request;
  request.start = key("n/plain");
  const auto found = run(storage_->range(request));
  ASSERT_TRUE(found.ok());
  ASSERT_NE(found->items.at(0).unreadable, nullptr);
  EXPECT_NE(found->items[0].unreadable->message().find("no key fits"), std::string::npos);
}

// Counts decryptions; a writer must not need one for its own value.
class Counting final : public StorageTransformer {
 public:
  std::optional<Result<SharedBytes>> to_storage_now(std::string_view, const SharedBytes& bytes) const override {
    return Result<SharedBytes>(bytes);
  }
  std::optional<Result<Plain>> from_storage_now(std::string_view, const SharedBytes& bytes) const override {
    ++undone;
    return Result<Plain>(Plain{bytes});
  }
  mutable std::atomic<int> undone{0};
};

TEST_F(EncodedStorageTest, TheEventOfAnOwnWriteIsNotDecoded) {
  const auto counting = std::make_shared<Counting>();
  open("protobuf", counting);
  EncodedStorage other(*backend_);
  other.use_kind(kPrefix, {{"", "v1", "ConfigMap"}, stored_type(), {}, false, nullptr});
  auto watch = storage_->watch_changes("/registry/", backend_->committed_revision());
  ASSERT_TRUE(watch.ok());
  const auto next = [&] { return run((*watch)->next())->events.at(0); };
  put(*storage_, key("n/a"), kMap);
  EXPECT_EQ(next().kv.value.view(), kMap);
  EXPECT_EQ(counting->undone, 0);
  const int before = counting->undone;
  put(other, key("n/a"), kMap);
  const StorageEvent theirs = next();
  EXPECT_EQ(theirs.kv.value.view(), kMap);
  EXPECT_EQ(counting->undone, before + 1);
  EXPECT_TRUE(theirs.previous.empty());
  EXPECT_NE(theirs.previous_revision, 0);
}

TEST_F(EncodedStorageTest, AFailedWriteIsNotShownToWatches) {
  constexpr std::string_view kOther = R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","uid":"u"},"data":{"a":"other"}})";
  put(*storage_, key("n/a"), kMap);
  auto watch = storage_->watch_changes("/registry/", backend_->committed_revision());
  TxnRequest late;
  late.compares.push_back({key("n/a"), 1});
  late.puts.push_back({key("n/a"), SharedBytes(std::string(kOther)), 0});
  ASSERT_FALSE(run(storage_->txn(std::move(late)))->committed);
  put(*storage_, key("n/a"), kMap);
  EXPECT_EQ(run((*watch)->next())->events.at(0).kv.value.view(), kMap);
}

TEST_F(EncodedStorageTest, APageIsReadWhenItsReaderHasTheTime) {
  put(*storage_, key("n/a"), kMap);
  RangeRequest request;
  request.start = key("n/a");
  auto page = run(storage_->stored_range(request));
  ASSERT_TRUE(page.ok());
  EXPECT_TRUE(find_codec("protobuf")->wrote(page->items.at(0).value.view()));
  EXPECT_EQ(storage_->read_now(page->items, 0), 1U);
  EXPECT_EQ(page->items[0].value.view(), kMap);
}

}  // namespace
}  // namespace backplane
