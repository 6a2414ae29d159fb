// Storage backends of the stable tier that are slow or break the contract. tests/plugins/stable_store_test.cpp has the conformance suite.
#include "stable/table_storage.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <semaphore>
#include <string>
#include <vector>

#include "base/io_loop.hpp"
#include "stable/conversions.hpp"
#include "stable/tables.hpp"

namespace backplane::stable {
namespace {

using std::chrono::milliseconds;

// A backend whose functions the test sets. It is the store, too.
struct Script {
  std::function<int32_t(const bp_range&, bp_store_answer*, bp_error*)> range = [](const bp_range&, bp_store_answer* answer, bp_error*) {
    storage_table().set_range(answer, 1, 0, 0);
    return 0;
  };
  std::function<void*(int64_t after, bp_event_stream*, bp_error*)> watch = [this](int64_t, bp_event_stream* given, bp_error*) {
    stream = given;
    watching.release();
    return this;
  };
  std::function<void()> more = [] {};
  std::atomic<int> blocked{0}, transactions{0}, cancelled{0}, closed{0};
  bp_event_stream* stream = nullptr;
  std::counting_semaphore<> watching{0};

  bp_storage_backend table() {
    bp_storage_backend table{};
    table.struct_size = sizeof(table);
    table.name = str("scripted");
    table.self = this;
    table.open = [](void* self, const bp_store_settings*, bp_error*) { return self; };
    table.close = [](void* self) { ++of(self).closed; };
    table.current_revision = [](void*, bp_error*) -> int64_t { return 1; };
    table.range = [](void* self, const bp_range* range, bp_store_answer* answer, bp_error* error) {
      return of(self).range(*range, answer, error);
    };
    table.txn = [](void* self, const bp_txn*, bp_store_answer* answer, bp_error*) -> int32_t {
      ++of(self).transactions;
      storage_table().set_txn(answer, 1, 2);
      return 0;
    };
    table.watch = [](void* self, bp_str, int64_t after, bp_event_stream* stream, bp_error* error) {
      return of(self).watch(after, stream, error);
    };
    table.more = [](void* self, void*) { of(self).more(); };
    table.cancel = [](void* self, void*) { ++of(self).cancelled; };
    table.compact = [](void*, int64_t, bp_error*) -> int32_t { return 0; };
    table.grant_lease = [](void*, int64_t, bp_error*) -> int64_t { return 1; };
    return table;
  }
  static Script& of(void* self) { return *static_cast<Script*>(self); }
};

class TableStorageTest : public testing::Test {
 protected:
  TableStorageTest() { loop.start(); }
  ~TableStorageTest() override {
    storage.reset();
    loop.stop();
  }

  void open(const bp_storage_backend& table, StoreLimits limits = {}) {
    StorageBackendConfig config;
    config.connections.executor = &loop;
    auto opened = open_table_storage(StorageProvider(table), config, limits);
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    storage = std::move(*opened);
  }
  template <class T>
  T run(Task<T> task) {
    return run_on(loop, std::move(task));
  }
  Result<RangeResult> read_all() {
    RangeRequest request;
    request.start = "/a";
    request.end = "/b";
    return run(storage->range(request));
  }
  // Opens a store with `count` threads that block in range() until `go` is released as many times. Returns the result of the last range().
  Result<RangeResult> block_threads(int count, std::counting_semaphore<>& go, StoreLimits limits) {
    script.range = [&](const bp_range&, bp_store_answer*, bp_error*) {
      ++script.blocked;
      go.acquire();
      return -1;
    };
    open(script.table(), limits);
    auto last = read_all();
    while (script.blocked < count) last = read_all();
    return last;
  }
  std::unique_ptr<StorageWatch> watch() {
    auto made = storage->watch("/", 1);
    EXPECT_TRUE(made.ok());
    script.watching.acquire();
    return std::move(*made);
  }
  // Adds the change of a key at a revision to the next batch.
  void add_event(int64_t revision, std::string_view key = "/k") const {
    const bp_key_value item = {sizeof(item), str(key), str("v"), revision, revision, 0};
    const bp_store_event event = {sizeof(event), &item, 0, {}, 0};
    storage_table().add_event(script.stream, &event);
  }
  int32_t push(int64_t revision) const { return storage_table().push(script.stream, revision); }
  int32_t push_event(int64_t revision) const {
    add_event(revision);
    return push(revision);
  }

  IoLoop loop{"table-storage"};
  Script script;
  std::unique_ptr<StorageBackend> storage;
};

// ---- deadlines

TEST_F(TableStorageTest, ACallThatDoesNotReturnTimesOutAndItsStoreIsNotClosed) {
  std::counting_semaphore<> go(0);
  const auto late = block_threads(1, go, {milliseconds(20), milliseconds(20), std::chrono::seconds(1)});
  EXPECT_EQ(late.status().reason(), Reason::kTimeout);
  EXPECT_EQ(late.status().message(), R"(Timeout: the storage backend "scripted" has not returned from range() within 20 ms)");
  EXPECT_TRUE(run(storage->health(std::chrono::seconds(30))).ok()) << "other threads of the store are free";
  EXPECT_EQ(run(storage->stop()).reason(), Reason::kTimeout);
  EXPECT_EQ(script.closed, 0);
  go.release(8);
  storage.reset();
}

TEST_F(TableStorageTest, ATransactionThatHasWaitedBeyondItsDeadlineIsNotMade) {
  std::counting_semaphore<> go(0);
  constexpr int kThreads = 8;
  (void)block_threads(kThreads, go, {milliseconds(20), milliseconds(20), std::chrono::seconds(30)});
  TxnRequest request;
  request.removes.emplace_back("/a");
  EXPECT_EQ(run(storage->txn(request)).status().reason(), Reason::kTimeout);
  go.release(kThreads);
  EXPECT_TRUE(run(storage->stop()).ok());
  EXPECT_EQ(script.transactions, 0);
  EXPECT_EQ(script.closed, 1);
}

TEST_F(TableStorageTest, AWatchThatIsNotOpenedInTimeEnds) {
  std::counting_semaphore<> go(0);
  script.watch = [&](int64_t, bp_event_stream*, bp_error*) {
    script.watching.release();
    go.acquire();
    return static_cast<void*>(&script);
  };
  open(script.table(), {milliseconds(20), milliseconds(20), std::chrono::seconds(30)});
  auto events = watch();
  EXPECT_EQ(run(events->next()).status().reason(), Reason::kTimeout);
  go.release();
  events.reset();
  EXPECT_TRUE(run(storage->stop()).ok());
  EXPECT_EQ(script.cancelled, 1);
}

TEST_F(TableStorageTest, AStoreThatIsNotStoppedIsClosedWithItsWatches) {
  open(script.table());
  auto events = watch();
  events.reset();
  storage.reset();
  EXPECT_EQ(script.cancelled, 1);
  EXPECT_EQ(script.closed, 1);
}

// ---- results

TEST_F(TableStorageTest, ResultsThatBreakTheContractAreInternalErrors) {
  open(script.table());
  script.range = [](const bp_range&, bp_store_answer*, bp_error*) { return 0; };
  EXPECT_NE(read_all().status().message().find("has not completed the result of a range"), std::string::npos);
  for (const std::vector<std::string>& keys : std::vector<std::vector<std::string>>{{"/a/2", "/a/1"}, {"/a/1", "/a/1"}, {"/b"}, {"/"}}) {
    script.range = [&keys](const bp_range&, bp_store_answer* answer, bp_error*) {
      for (const std::string& key : keys) {
        const bp_key_value item = {sizeof(item), str(key), {}, 1, 1, 0};
        storage_table().add_item(answer, &item);
      }
      storage_table().set_range(answer, 1, 2, 0);
      return 0;
    };
    const auto read = read_all();
    EXPECT_EQ(read.status().reason(), Reason::kInternalError) << keys.front();
  }
}

TEST_F(TableStorageTest, ErrorsKeepTheirReasons) {
  script.range = [](const bp_range&, bp_store_answer*, bp_error* error) { return fail(error, expired("too old")); };
  open(script.table());
  EXPECT_EQ(read_all().status().reason(), Reason::kExpired);
  EXPECT_EQ(read_all().status().message(), "too old");
}

TEST_F(TableStorageTest, FunctionsThatAreNotSetHaveTheirMeaning) {
  open(script.table());
  EXPECT_TRUE(storage->progress_is_immediate());
  EXPECT_TRUE(run(storage->request_progress()).ok());
  EXPECT_FALSE(storage->can_raise_revision());
  EXPECT_EQ(run(storage->raise_revision(7)).reason(), Reason::kInternalError);
  EXPECT_EQ(storage->committed_revision(), 0);
  EXPECT_EQ(storage->size_bytes(), -1);
  EXPECT_EQ(storage->stored_form(), "json");
}

TEST_F(TableStorageTest, AFunctionThatAnOlderPluginDoesNotHaveIsNotRead) {
  auto table = script.table();
  table.size = [](void*) -> int64_t { return 7; };
  table.struct_size = offsetof(bp_storage_backend, size);
  open(table);
  EXPECT_EQ(storage->size_bytes(), -1);
}

// ---- watches

TEST_F(TableStorageTest, AFullQueueDropsTheBatchAndAsksForMore) {
  std::counting_semaphore<> asked(0);
  script.more = [&] { asked.release(); };
  open(script.table());
  auto events = watch();
  int64_t pushed = 1;
  while (push_event(pushed + 1) == BP_PUSHED) ++pushed;
  EXPECT_GT(pushed, 1000);
  EXPECT_EQ(push_event(pushed + 1), BP_FULL);
  int64_t seen = 1;
  const auto take = [&] {
    auto batch = run(events->next());
    ASSERT_TRUE(batch.ok()) << batch.status().message();
    for (const auto& event : batch->events) EXPECT_EQ(event.kv.mod_revision, ++seen);
  };
  while (!asked.try_acquire() && seen < pushed) take();
  if (seen == pushed) asked.acquire();
  EXPECT_EQ(push_event(pushed + 1), BP_PUSHED);
  while (seen <= pushed) take();
  EXPECT_EQ(seen, pushed + 1);
  events.reset();
  storage.reset();
}

TEST_F(TableStorageTest, ABatchLargerThanTheQueueIsAccepted) {
  open(script.table());
  auto events = watch();
  constexpr int kEvents = 20'000;
  for (int i = 0; i < kEvents; ++i) add_event(2, "/" + std::to_string(i));
  EXPECT_EQ(push(2), BP_PUSHED);
  EXPECT_EQ(push_event(3), BP_FULL);
  EXPECT_EQ(push(3), BP_PUSHED) << "it says only that there is nothing up to 3";
  const auto batch = run(events->next());
  ASSERT_TRUE(batch.ok());
  EXPECT_EQ(batch->events.size(), kEvents);
  EXPECT_EQ(batch->revision, 3);
}

TEST_F(TableStorageTest, BatchesThatBreakTheOrderOfCommitsEndTheWatch) {
  open(script.table());
  struct Fault {
    const char* words;
    std::function<int32_t()> push;
  };
  const std::vector<Fault> faults = {
      {"revision 3 late or in parts", [&] { return push_event(3); }},
      {"a batch whose revision is less", [&] { return add_event(5), push(4); }},
      {"a key that is not watched", [&] { return add_event(4, "k"), push(4); }},
      {"revision 4 late or in parts", [&] { return add_event(5), add_event(4), push(5); }},
  };
  for (const Fault& fault : faults) {
    auto events = watch();
    EXPECT_EQ(push_event(3), BP_PUSHED);
    EXPECT_EQ(fault.push(), BP_ENDED);
    EXPECT_EQ(push_event(9), BP_ENDED);
    EXPECT_TRUE(run(events->next()).ok());
    const auto ended = run(events->next());
    EXPECT_EQ(ended.status().reason(), Reason::kInternalError);
    EXPECT_NE(ended.status().message().find(fault.words), std::string::npos) << ended.status().message();
  }
}

TEST_F(TableStorageTest, AnEndOfThePluginComesAfterTheQueue) {
  open(script.table());
  auto events = watch();
  EXPECT_EQ(push_event(2), BP_PUSHED);
  storage_table().end(script.stream, nullptr);
  EXPECT_EQ(push_event(3), BP_ENDED);
  EXPECT_TRUE(run(events->next()).ok());
  EXPECT_EQ(run(events->next()).status().reason(), Reason::kExpired);
}

TEST_F(TableStorageTest, AWatchThatIsRefusedHasItsErrorAndIsNotCancelled) {
  script.watch = [&](int64_t, bp_event_stream*, bp_error* error) {
    fail(error, expired("too old"));
    return static_cast<void*>(nullptr);
  };
  open(script.table());
  auto made = storage->watch("/", 1);
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(run((*made)->next()).status().message(), "too old");
  made->reset();
  EXPECT_TRUE(run(storage->stop()).ok());
  EXPECT_EQ(script.cancelled, 0);
}

}  // namespace
}  // namespace backplane::stable
