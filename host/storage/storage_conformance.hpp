// Tests that every storage backend must pass.  Include this header in one source of a test, and instantiate the suite with a BackendMaker:
//   INSTANTIATE_TEST_SUITE_P(Memory, StorageConformance, testing::Values(maker), maker_name);
// Backends that store data on a disk also instantiate DurableStorageConformance; backends whose files belong to one process also
// instantiate OwnedStorageConformance.
#pragma once

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>

#include "backplane/points/storage_feed.hpp"
#include "base/task_group.hpp"
#include "storage/storage_test_kit.hpp"

namespace backplane {

class StorageConformance : public testing::TestWithParam<BackendMaker> {
 protected:
  // Declared before the store, so that the loops are destroyed after it: when the test has received the awaited event, the store's writer
  // may still be in a post() to a loop.
  LoopPool loops{2};
  OpenStore store{GetParam()};

  std::unique_ptr<StorageWatch> watch(std::string prefix, Revision after) {
    auto watch = store->watch(std::move(prefix), after);
    EXPECT_TRUE(watch.ok()) << watch.status().message();
    return watch.ok() ? std::move(*watch) : nullptr;
  }
  static TxnRequest create(std::string key, std::string value) {
    TxnRequest request;
    request.compares.push_back({key, 0});
    request.puts.push_back({std::move(key), SharedBytes(std::move(value)), 0});
    return request;
  }
  static RangeRequest under(std::string prefix) {
    RangeRequest request;
    request.end = prefix_end(prefix);
    request.start = std::move(prefix);
    return request;
  }
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(StorageConformance);

// ---- writing and reading

TEST_P(StorageConformance, AnEmptyStoreIsAtRevisionOneAsEtcdIs) {
  EXPECT_EQ(store.run(store->current_revision()).value(), 1);
  EXPECT_EQ(store.newest(), 1);
  EXPECT_EQ(store.dump("/"), "");
  EXPECT_TRUE(store.run(store->health(std::chrono::seconds(1))).ok());
}

TEST_P(StorageConformance, EveryCommitTakesTheNextRevision) {
  EXPECT_EQ(store.put("/a", "1"), 2);
  EXPECT_EQ(store.put("/b", "1"), 3);
  EXPECT_EQ(store.put("/a", "2"), 4);
  EXPECT_EQ(store.newest(), 4);
  EXPECT_EQ(store.dump("/"), "/a=2 /b=1");
}

TEST_P(StorageConformance, AKeyHasItsCreateAndModRevision) {
  store.put("/a", "1");
  store.put("/a", "2");
  RangeRequest request;
  request.start = "/a";
  const auto found = store.range(request);
  ASSERT_EQ(found.items.size(), 1u);
  EXPECT_EQ(found.items[0].create_revision, 2);
  EXPECT_EQ(found.items[0].mod_revision, 3);
  EXPECT_EQ(found.revision, 3);
  EXPECT_EQ(found.count, 1);
}

TEST_P(StorageConformance, AKeyThatIsMadeAgainStartsANewLife) {
  store.put("/a", "1");
  store.remove("/a");
  store.put("/a", "2");
  RangeRequest request;
  request.start = "/a";
  EXPECT_EQ(store.range(request).items.at(0).create_revision, 4);
}

TEST_P(StorageConformance, CreatingAKeyThatExistsWritesNothingAndReturnsTheEntry) {
  store.put("/a", "1");
  const auto result = store.commit(create("/a", "2"));
  EXPECT_FALSE(result.committed);
  EXPECT_EQ(result.revision, 2);
  ASSERT_EQ(result.found.size(), 1u);
  EXPECT_EQ(result.found[0].mod_revision, 2);
  EXPECT_EQ(result.found[0].value.view(), "1");
  EXPECT_EQ(store.get("/a"), "1");
}

TEST_P(StorageConformance, PutAtAStaleRevisionConflictsAndWritesNothing) {
  store.put("/a", "1");
  store.put("/a", "2");
  TxnRequest stale;
  stale.compares.push_back({"/a", 2});
  stale.puts.push_back({"/a", SharedBytes(std::string("3")), 0});
  stale.puts.push_back({"/b", SharedBytes(std::string("3")), 0});
  EXPECT_FALSE(store.commit(stale).committed);
  EXPECT_EQ(store.dump("/"), "/a=2");
  stale.compares[0].mod_revision = 3;
  EXPECT_TRUE(store.commit(stale).committed);
  EXPECT_EQ(store.dump("/"), "/a=3 /b=3");
}

TEST_P(StorageConformance, WhatOneTransactionChangesHasOneRevision) {
  store.put("/gone", "1");
  TxnRequest request;
  request.puts.push_back({"/a", SharedBytes(std::string("1")), 0});
  request.puts.push_back({"/b", SharedBytes(std::string("1")), 0});
  request.removes.push_back("/gone");
  EXPECT_EQ(store.commit(std::move(request)).revision, 3);
  for (const auto& kv : store.range(under("/")).items) EXPECT_EQ(kv.mod_revision, 3);
  EXPECT_EQ(store.dump("/"), "/a=1 /b=1");
}

TEST_P(StorageConformance, RemovingWhatIsNotThereTakesNoRevision) {
  store.put("/a", "1");
  EXPECT_EQ(store.remove("/b"), 2);
  EXPECT_EQ(store.newest(), 2);
}

TEST_P(StorageConformance, ATransactionThatNamesAKeyTwiceOrAnEmptyOneIsRefused) {
  TxnRequest twice;
  twice.puts.push_back({"/a", SharedBytes(std::string("1")), 0});
  twice.removes.push_back("/a");
  EXPECT_EQ(store.run(store->txn(twice)).status().reason(), Reason::kBadRequest);
  TxnRequest empty;
  empty.puts.push_back({"", SharedBytes(std::string("1")), 0});
  EXPECT_EQ(store.run(store->txn(empty)).status().reason(), Reason::kBadRequest);
  EXPECT_EQ(store.newest(), 1);
}

TEST_P(StorageConformance, ATransactionIsBounded) {
  TxnRequest large;
  large.puts.push_back({"/a", SharedBytes(std::string(1024 * 1024, 'x')), 0});
  EXPECT_TRUE(store.commit(large).committed);
  large.puts.push_back({"/b", SharedBytes(std::string(32 * 1024 * 1024, 'x')), 0});
  const Status refused = store.run(store->txn(large)).status();
  EXPECT_EQ(refused.code(), 500);
  EXPECT_NE(refused.message().find("larg"), std::string::npos) << refused.message();
  EXPECT_EQ(store.newest(), 2);
}

TEST_P(StorageConformance, ValuesMayHoldAnyBytes) {
  std::string value("\0\x01\xff\n", 4);
  value += std::string(100'000, '\0');
  store.put("/a", value);
  EXPECT_EQ(store.get("/a"), value);
  store.put("/a", "");
  EXPECT_EQ(store.get("/a"), "");
}

// ---- ranges

TEST_P(StorageConformance, ARangeIsInOrderOfKeysAndEndsBeforeItsEnd) {
  for (const char* key : {"/b/2", "/a/1", "/b/10", "/b", "/b/1", "/c"}) store.put(key, "v");
  EXPECT_EQ(store.dump("/b/"), "/b/1=v /b/10=v /b/2=v");
  EXPECT_EQ(store.dump("/b"), "/b=v /b/1=v /b/10=v /b/2=v");
}

TEST_P(StorageConformance, ALimitedRangeReturnsTheCountAndWhetherThereIsMore) {
  for (int i = 0; i < 5; ++i) store.put("/k/" + std::to_string(i), "v");
  auto request = under("/k/");
  request.limit = 2;
  auto page = store.range(request);
  EXPECT_EQ(page.items.size(), 2u);
  EXPECT_EQ(page.count, 5);
  EXPECT_TRUE(page.more);
  request.skip_count = true;
  EXPECT_TRUE(store.range(request).more);
  request.start = "/k/2" + std::string(1, '\0');
  page = store.range(request);
  EXPECT_EQ(page.items.at(0).key, "/k/3");
  EXPECT_FALSE(page.more);
  request.limit = 0;
  EXPECT_FALSE(store.range(request).more);
}

TEST_P(StorageConformance, CountsAndKeysCanBeAskedForAlone) {
  store.put("/k/1", "v");
  store.put("/k/2", "v");
  auto request = under("/k/");
  request.count_only = true;
  auto counted = store.range(request);
  EXPECT_TRUE(counted.items.empty());
  EXPECT_EQ(counted.count, 2);
  EXPECT_FALSE(counted.more);
  request.count_only = false;
  request.keys_only = true;
  const auto keys = store.range(request);
  ASSERT_EQ(keys.items.size(), 2u);
  EXPECT_TRUE(keys.items[0].value.empty());
  EXPECT_EQ(keys.items[0].mod_revision, 2);
}

TEST_P(StorageConformance, ThePastIsReadAsItWas) {
  store.put("/a", "1");   // 2
  store.put("/b", "1");   // 3
  store.put("/a", "2");   // 4
  store.remove("/b");     // 5
  store.put("/ab", "1");  // 6
  store.put("/b", "3");   // 7
  store.remove("/a");     // 8
  EXPECT_EQ(store.dump("/", 1), "");
  EXPECT_EQ(store.dump("/", 2), "/a=1");
  EXPECT_EQ(store.dump("/", 3), "/a=1 /b=1");
  EXPECT_EQ(store.dump("/", 4), "/a=2 /b=1");
  EXPECT_EQ(store.dump("/", 5), "/a=2");
  EXPECT_EQ(store.dump("/", 6), "/a=2 /ab=1");
  EXPECT_EQ(store.dump("/", 7), "/a=2 /ab=1 /b=3");
  EXPECT_EQ(store.dump("/", 8), "/ab=1 /b=3");
  EXPECT_EQ(store.get("/a", 3), "1");
  EXPECT_EQ(store.get("/b", 5), "-");
  auto request = under("/");
  request.revision = 7;
  request.limit = 1;
  request.start = "/a" + std::string(1, '\0');
  const auto rest = store.range(request);
  EXPECT_EQ(rest.items.at(0).key, "/ab");
  EXPECT_EQ(rest.count, 2);
  EXPECT_EQ(rest.revision, 8);
}

TEST_P(StorageConformance, AFutureRevisionIsRefused) {
  auto request = under("/");
  request.revision = 99;
  EXPECT_EQ(store.run(store->range(request)).status().reason(), Reason::kBadRequest);
  EXPECT_EQ(store.run(store->compact(99)).reason(), Reason::kBadRequest);
}

TEST_P(StorageConformance, ManyKeysAreReadWholeInPagesAtOneRevision) {
  constexpr int kKeys = 3000;
  for (int i = 0; i < kKeys; i += 100) {
    TxnRequest request;
    for (int j = i; j < i + 100; ++j) request.puts.push_back({"/k/" + std::to_string(100'000 + j), SharedBytes(std::to_string(j)), 0});
    store.commit(std::move(request));
  }
  const Revision at = store.newest();
  auto request = under("/k/");
  request.limit = 700;
  request.revision = at;
  int seen = 0;
  for (bool more = true; more;) {
    const auto page = store.range(request);
    EXPECT_EQ(page.count, kKeys - seen);
    for (const auto& kv : page.items) EXPECT_EQ(kv.value.view(), std::to_string(seen++));
    more = page.more;
    request.start = page.items.back().key + '\0';
    store.put("/k/" + std::to_string(200'000 + seen), "later");
    store.remove("/k/" + std::to_string(100'000 + seen));
  }
  EXPECT_EQ(seen, kKeys);
}

// ---- watches

TEST_P(StorageConformance, AWatchSeesTheChangesOfItsPrefixInOrder) {
  auto events = watch("/k/", store.newest());
  store.put("/k/a", "1");
  store.put("/other", "1");
  store.put("/k/a", "2");
  store.remove("/k/a");
  EXPECT_EQ(store.next(*events, 3), "+/k/a=1 +/k/a=2 -/k/a");
}

TEST_P(StorageConformance, AnEventHasThePreviousValue) {
  store.put("/a", "1");
  auto watch_past = watch("/", 1);
  store.put("/a", "2");
  store.remove("/a");
  std::vector<StorageEvent> events;
  while (events.size() < 3) {
    auto batch = store.run(watch_past->next());
    ASSERT_TRUE(batch.ok());
    events.insert(events.end(), batch->events.begin(), batch->events.end());
  }
  EXPECT_EQ(events[0].previous_revision, 0);
  EXPECT_TRUE(events[0].previous.empty());
  EXPECT_EQ(events[1].previous.view(), "1");
  EXPECT_EQ(events[1].previous_revision, 2);
  EXPECT_EQ(events[1].kv.create_revision, 2);
  EXPECT_EQ(events[2].type, StorageEvent::Type::kDelete);
  EXPECT_EQ(events[2].previous.view(), "2");
  EXPECT_EQ(events[2].kv.mod_revision, 4);
}

TEST_P(StorageConformance, AWatchStartsInThePast) {
  for (int i = 0; i < 5; ++i) store.put("/k/" + std::to_string(i), "v");
  auto events = watch("/k/", 4);
  EXPECT_EQ(store.next(*events, 2), "+/k/3=v +/k/4=v");
}

TEST_P(StorageConformance, AWatchThatStartsInTheFutureSeesOnlyWhatComesAfter) {
  auto events = watch("/", 3);
  store.put("/a", "1");
  store.put("/b", "1");
  store.put("/c", "1");
  EXPECT_EQ(store.next(*events, 1), "+/c=1");
}

TEST_P(StorageConformance, AWatchThatIsAskedForItsProgressHasReachedTheStore) {
  auto events = watch("/k/", store.newest());
  store.put("/k/a", "1");
  EXPECT_EQ(store.next(*events, 1), "+/k/a=1");
  store.put("/other", "1");
  const Revision now = store.run(store->current_revision()).value();
  ASSERT_TRUE(store.run(store->request_progress()).ok());
  auto batch = store.run(events->next());
  ASSERT_TRUE(batch.ok()) << batch.status().message();
  EXPECT_TRUE(batch->events.empty());
  EXPECT_GE(batch->revision, now);
}

TEST_P(StorageConformance, ImmediateProgressNeedsNoRequest) {
  if (!store->progress_is_immediate()) GTEST_SKIP();
  auto events = watch("/k/", store.newest());
  const Revision now = store.put("/other", "1");
  auto batch = store.run(events->next());
  ASSERT_TRUE(batch.ok()) << batch.status().message();
  EXPECT_GE(batch->revision, now);
}

TEST_P(StorageConformance, ASlowWatchMissesNothingWhenTheTailHasMovedOn) {
  auto slow = watch("/k/", 1);
  constexpr int kEvents = 12'000;  // more than a feed keeps in memory
  for (int i = 0; i < kEvents; i += 100) {
    TxnRequest request;
    for (int j = i; j < i + 100; ++j) request.puts.push_back({"/k/" + std::to_string(j % 500), SharedBytes(std::to_string(j)), 0});
    store.commit(std::move(request));
  }
  int seen = 0;
  Revision last = 1;
  while (seen < kEvents) {
    auto batch = store.run(slow->next());
    ASSERT_TRUE(batch.ok()) << batch.status().message();
    for (const auto& event : batch->events) {
      ASSERT_EQ(event.kv.value.view(), std::to_string(seen));
      ASSERT_EQ(event.previous.view(), seen < 500 ? "" : std::to_string(seen - 500));
      ASSERT_GE(event.kv.mod_revision, last);
      last = event.kv.mod_revision;
      ++seen;
    }
    EXPECT_GE(batch->revision, last);
  }
}

TEST_P(StorageConformance, CancellingAWatchEndsItsWait) {
  auto events = watch("/", store.newest());
  std::promise<Reason> ended;
  struct Run {
    static Task<void> wait(StorageWatch& watch, std::promise<Reason>& ended) {
      auto batch = co_await watch.next();
      ended.set_value(batch.status().reason());
    }
  };
  spawn_detached(store.loop(), Run::wait(*events, ended));
  events->cancel();
  EXPECT_EQ(ended.get_future().get(), Reason::kExpired);
  EXPECT_EQ(store.run(events->next()).status().reason(), Reason::kExpired);
}

TEST_P(StorageConformance, StoppingEndsWatchesAndRefusesWork) {
  auto events = watch("/", store.newest());
  EXPECT_TRUE(store.run(store->stop()).ok());
  EXPECT_EQ(store.run(events->next()).status().reason(), Reason::kExpired);
  EXPECT_EQ(store.run(store->txn(create("/a", "1"))).status().reason(), Reason::kServiceUnavailable);
  EXPECT_EQ(store.run(store->range(under("/"))).status().reason(), Reason::kServiceUnavailable);
  EXPECT_FALSE(store.run(store->health(std::chrono::seconds(1))).ok());
}

// ---- compaction

TEST_P(StorageConformance, CompactionRemovesOldRevisionsAndKeepsTheLatest) {
  store.put("/a", "1");  // 2
  store.put("/a", "2");  // 3
  store.put("/b", "1");  // 4
  store.remove("/b");    // 5
  store.put("/a", "3");  // 6
  store.put("/c", "1");  // 7
  ASSERT_TRUE(store.run(store->compact(5)).ok());
  auto past = under("/");
  past.revision = 4;
  EXPECT_EQ(store.run(store->range(past)).status().reason(), Reason::kExpired);
  EXPECT_EQ(store.dump("/", 5), "/a=2");
  EXPECT_EQ(store.dump("/", 6), "/a=3");
  EXPECT_EQ(store.dump("/"), "/a=3 /c=1");
  ASSERT_TRUE(store.run(store->compact(3)).ok());  // compacted already: nothing to do
  ASSERT_TRUE(store.run(store->compact(7)).ok());
  EXPECT_EQ(store.dump("/"), "/a=3 /c=1");
  EXPECT_EQ(store.dump("/", 7), "/a=3 /c=1");
}

TEST_P(StorageConformance, AWatchBeforeTheCompactedRevisionExpires) {
  for (int i = 0; i < 6; ++i) store.put("/k/" + std::to_string(i), "v");
  store.put("/k/0", "w");  // 8
  ASSERT_TRUE(store.run(store->compact(8)).ok());
  auto gone = store->watch("/k/", 3);
  const Reason reason = gone.ok() ? store.run((*gone)->next()).status().reason() : gone.status().reason();
  EXPECT_EQ(reason, Reason::kExpired);
  auto events = watch("/k/", 7);
  EXPECT_EQ(store.next(*events, 1), "+/k/0=w");
}

TEST_P(StorageConformance, AKeyThatWasCompactedAwayCanBeMadeAgain) {
  store.put("/a", "1");
  store.remove("/a");
  store.put("/b", "1");
  ASSERT_TRUE(store.run(store->compact(4)).ok());
  EXPECT_TRUE(store.commit(create("/a", "2")).committed);
  EXPECT_EQ(store.dump("/", 4), "/b=1");
  EXPECT_EQ(store.dump("/"), "/a=2 /b=1");
}

// ---- leases

TEST_P(StorageConformance, ALeaseRemovesItsKeysWhenItRunsOut) {
  const auto lease = store.run(store->grant_lease(std::chrono::seconds(1)));
  ASSERT_TRUE(lease.ok());
  store.put("/e/1", "v", *lease);
  store.put("/e/2", "v", *lease);
  store.put("/e/freed", "v", *lease);
  store.put("/e/freed", "w");
  store.put("/e/kept", "v");
  RangeRequest request;
  request.start = "/e/1";
  EXPECT_EQ(store.range(request).items.at(0).lease, *lease);
  auto events = watch("/e/", store.newest());
  EXPECT_EQ(store.next(*events, 2), "-/e/1 -/e/2");
  EXPECT_EQ(store.dump("/e/"), "/e/freed=w /e/kept=v");
}

TEST_P(StorageConformance, AnUnknownLeaseIsRefused) {
  TxnRequest request;
  request.puts.push_back({"/a", SharedBytes(std::string("v")), 4711});
  EXPECT_EQ(store.run(store->txn(request)).status().reason(), Reason::kNotFound);
  EXPECT_EQ(store.get("/a"), "-");
}

// ---- many at once

namespace conformance {

// Creates keys and changes each of them once; appends the revision of each commit to `revisions`.
inline Task<void> write_keys(StorageBackend& storage, int writer, int keys, std::vector<Revision>& revisions) {
  for (int i = 0; i < keys; ++i) {
    const std::string key = "/w/" + std::to_string(writer) + "/" + std::to_string(i);
    Revision at = 0;
    for (const char* value : {"made", "changed"}) {
      TxnRequest request;
      request.compares.push_back({key, at});
      request.puts.push_back({key, SharedBytes(std::string(value)), 0});
      auto writing = storage.txn(std::move(request));
      auto result = co_await std::move(writing);
      EXPECT_TRUE(result.ok() && result->committed);
      if (!result.ok()) co_return;
      at = result->revision;
      revisions.push_back(at);
    }
  }
}

// Reads events until there are `count`; appends their revisions to `revisions`.
inline Task<void> read_events(StorageWatch& watch, std::size_t count, std::vector<Revision>& revisions) {
  while (revisions.size() < count) {
    auto reading = watch.next();
    auto batch = co_await std::move(reading);
    EXPECT_TRUE(batch.ok());
    if (!batch.ok()) co_return;
    for (const auto& event : batch->events) revisions.push_back(event.kv.mod_revision);
  }
}

// Increments a counter `times` times; repeats an increment that loses a conflict.
inline Task<void> count_up(StorageBackend& storage, int times) {
  while (times > 0) {
    RangeRequest request;
    request.start = "/counter";
    auto reading = storage.range(request);
    auto found = co_await std::move(reading);
    EXPECT_TRUE(found.ok());
    const bool exists = !found->items.empty();
    const int value = exists ? std::stoi(std::string(found->items[0].value.view())) : 0;
    TxnRequest txn;
    txn.compares.push_back({"/counter", exists ? found->items[0].mod_revision : 0});
    txn.puts.push_back({"/counter", SharedBytes(std::to_string(value + 1)), 0});
    auto writing = storage.txn(std::move(txn));
    auto result = co_await std::move(writing);
    EXPECT_TRUE(result.ok());
    if (result.ok() && result->committed) --times;
  }
}

}  // namespace conformance

TEST_P(StorageConformance, ManyWritersGetRevisionsOfTheirOwnAndWatchersSeeEveryEventOnceAndInOrder) {
  constexpr int kWriters = 16;
  constexpr int kKeys = 50;
  constexpr std::size_t kEvents = kWriters * kKeys * 2;
  loops.start();
  LoggedTaskGroup tasks;
  std::vector<std::unique_ptr<StorageWatch>> watches;
  std::vector<std::vector<Revision>> seen(4);
  for (std::size_t i = 0; i < seen.size(); ++i) {
    watches.push_back(watch("/w/", 1));
    tasks.spawn(loops.loop(i), "reader", conformance::read_events(*watches[i], kEvents, seen[i]));
  }
  std::vector<std::vector<Revision>> written(kWriters);
  for (int i = 0; i < kWriters; ++i) {
    tasks.spawn(loops.loop(static_cast<std::size_t>(i)), "writer",
                conformance::write_keys(*store, i, kKeys, written[static_cast<std::size_t>(i)]));
  }
  tasks.close();
  store.run(tasks.wait_all());
  std::vector<Revision> all;
  for (const auto& revisions : written) {
    EXPECT_TRUE(std::is_sorted(revisions.begin(), revisions.end()));
    all.insert(all.end(), revisions.begin(), revisions.end());
  }
  std::sort(all.begin(), all.end());
  ASSERT_EQ(all.size(), kEvents);
  EXPECT_TRUE(std::adjacent_find(all.begin(), all.end()) == all.end());
  for (const auto& revisions : seen) EXPECT_EQ(revisions, all);
  loops.stop();
}

TEST_P(StorageConformance, NoIncrementIsLostWhenManyWritersWantTheSameKey) {
  loops.start();
  LoggedTaskGroup tasks;
  for (std::size_t i = 0; i < 8; ++i) tasks.spawn(loops.loop(i), "counter", conformance::count_up(*store, 25));
  tasks.close();
  store.run(tasks.wait_all());
  EXPECT_EQ(store.get("/counter"), "200");
  loops.stop();
}

// ---- restarts: for backends that retain acknowledged writes

class DurableStorageConformance : public StorageConformance {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(DurableStorageConformance);

TEST_P(DurableStorageConformance, EverythingAcknowledgedIsThereAfterARestart) {
  store.put("/a", "1");
  store.put("/a", "2");
  store.remove("/a");
  store.put("/b", "1");
  store.reopen();
  EXPECT_EQ(store.newest(), 5);
  EXPECT_EQ(store.dump("/"), "/b=1");
  EXPECT_EQ(store.dump("/", 3), "/a=2");
  EXPECT_EQ(store.put("/c", "1"), 6);
}

TEST_P(DurableStorageConformance, AWatchResumesOverARestart) {
  store.put("/a", "1");
  store.put("/a", "2");
  store.reopen();
  auto events = watch("/", 2);
  store.remove("/a");
  EXPECT_EQ(store.next(*events, 2), "+/a=2 -/a");
}

TEST_P(DurableStorageConformance, CompactionIsRememberedOverARestart) {
  store.put("/a", "1");
  store.put("/a", "2");
  store.put("/a", "3");
  ASSERT_TRUE(store.run(store->compact(4)).ok());
  store.reopen();
  auto past = under("/");
  past.revision = 3;
  EXPECT_EQ(store.run(store->range(past)).status().reason(), Reason::kExpired);
  EXPECT_EQ(store.dump("/"), "/a=3");
}

TEST_P(DurableStorageConformance, ALeaseRunsOutAfterARestartToo) {
  const auto lease = store.run(store->grant_lease(std::chrono::seconds(1)));
  ASSERT_TRUE(lease.ok());
  store.put("/e", "v", *lease);
  const Revision before = store.newest();
  store.reopen();
  auto events = watch("/e", before);
  EXPECT_EQ(store.next(*events, 1), "-/e");
  const auto next = store.run(store->grant_lease(std::chrono::seconds(60)));
  ASSERT_TRUE(next.ok());
  EXPECT_NE(*next, *lease);
}

// For stores whose files only one process can open.
class OwnedStorageConformance : public StorageConformance {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(OwnedStorageConformance);

// etcd does not pass: it compacts a removal together with its revision.
TEST_P(OwnedStorageConformance, ARemovalAtTheCompactedRevisionIsStillDelivered) {
  store.put("/k/0", "v");
  store.remove("/k/0");  // 3
  ASSERT_TRUE(store.run(store->compact(3)).ok());
  auto events = watch("/k/", 2);
  EXPECT_EQ(store.next(*events, 1), "-/k/0");
}

TEST_P(OwnedStorageConformance, AnotherOpenOfTheSameDirectoryIsRefusedAndNamesIt) {
  const auto second = GetParam().open(store.directory());
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.status().reason(), Reason::kServiceUnavailable);
  EXPECT_NE(second.status().message().find(store.directory()), std::string::npos);
  EXPECT_NE(second.status().message().find("in use by another process"), std::string::npos);
}

}  // namespace backplane
