#include "storage/store_copy.hpp"

#include <gmock/gmock.h>

#include <functional>
#include <thread>

#include "storage/memory_storage.hpp"
#include "storage/storage_test_kit.hpp"
#include "storage/store_hold.hpp"

namespace backplane {
namespace {

BackendMaker memory() {
  return {"Memory", [](const std::string&) -> Result<std::unique_ptr<StorageBackend>> { return make_memory_storage(); }};
}

// Wraps a store, and calls functions of the test before its transactions and after its reads.
class InterferingStorage final : public StorageBackend {
 public:
  explicit InterferingStorage(StorageBackend& below) : below_(below) {}
  std::function<Status(TxnRequest&)> before_txn;
  std::function<void(RangeResult&)> after_range;

  Task<Result<Revision>> current_revision() override { return below_.current_revision(); }
  Task<Result<RangeResult>> range(RangeRequest request) override {
    auto reading = below_.range(std::move(request));
    auto result = co_await std::move(reading);
    if (result.ok() && after_range) after_range(*result);
    co_return result;
  }
  Task<Result<TxnResult>> txn(TxnRequest request) override {
    Status status = before_txn ? before_txn(request) : Status();
    if (!status.ok()) co_return status;
    auto writing = below_.txn(std::move(request));
    auto result = co_await std::move(writing);
    co_return result;
  }
  Result<std::unique_ptr<StorageWatch>> watch(std::string prefix, Revision after) override {
    return below_.watch(std::move(prefix), after);
  }
  Task<Status> compact(Revision revision) override { return below_.compact(revision); }
  Task<Result<LeaseId>> grant_lease(std::chrono::seconds ttl) override { return below_.grant_lease(ttl); }
  Task<Status> health(std::chrono::milliseconds timeout) override { return below_.health(timeout); }
  Task<Status> stop() override { return below_.stop(); }

 private:
  StorageBackend& below_;
};

class StoreCopy : public testing::Test {
 protected:
  StoreCopy() {
    for (int i = 0; i < 1200; ++i) from.put("/registry/configmaps/default/c" + std::to_string(i), "v" + std::to_string(i));
    for (int i = 0; i < 3000; ++i) from.put("/registry/configmaps/default/busy", std::to_string(i));
  }
  Result<CopyReport> copy(bool hold = false) {
    CopySettings settings;
    settings.from = "the source";
    settings.to = "the target";
    settings.hold_source = hold;
    return from.run(copy_store(source, target, std::move(settings)));
  }
  Reason expired_before(Revision revision) {
    auto watch = to->watch("/registry/", revision);
    return watch.status().reason();
  }

  OpenStore from{memory()}, to{memory()};
  InterferingStorage source{*from}, target{*to};
};

TEST_F(StoreCopy, HoldsEverythingAndNoRevisionComesTwice) {
  from.put("/registry.other", "not ours");
  from.put("/registry/masterleases/192.0.2.1", "a server's own");
  const Revision last = from.newest();
  const auto done = copy();
  ASSERT_TRUE(done.ok()) << done.status().message();
  EXPECT_EQ(done->keys, 1201u);
  EXPECT_FALSE(done->resumed);
  EXPECT_EQ(done->source_revision, last);
  EXPECT_EQ(to.dump("/registry/configmaps/"), from.dump("/registry/configmaps/"));
  EXPECT_EQ(to.dump("/registry/masterleases/"), "");
  EXPECT_EQ(to.dump("/registry."), "") << "no mark is left";
  RangeRequest all;
  all.start = "/registry/";
  all.end = "/registry0";
  for (const KeyValue& kv : to.range(all).items) EXPECT_GT(kv.mod_revision, last) << kv.key;
  EXPECT_EQ(to.newest(), done->target_revision);
  EXPECT_EQ(expired_before(last), Reason::kExpired) << "a watch of the source must begin again";
  EXPECT_EQ(expired_before(done->target_revision), Reason::kNone);
}

TEST_F(StoreCopy, KeysThatExpireDoSoInTheTargetToo) {
  auto lease = from.run(from->grant_lease(std::chrono::seconds(100)));
  ASSERT_TRUE(lease.ok());
  from.put("/registry/events/default/e", "event", *lease);
  ASSERT_TRUE(copy().ok());
  RangeRequest one;
  one.start = "/registry/events/default/e";
  EXPECT_NE(to.range(one).items.at(0).lease, 0);
}

TEST_F(StoreCopy, ContinuesAnInterruptedCopy) {
  int writes = 0;
  target.before_txn = [&](TxnRequest&) { return ++writes > 3500 ? service_unavailable("the power has gone") : Status(); };
  const auto broken = copy();
  ASSERT_EQ(broken.status().reason(), Reason::kServiceUnavailable);
  EXPECT_EQ(broken.status().message(), "target: the power has gone");
  EXPECT_NE(to.get(std::string(kHoldKey)), "-");
  HeldStorage served(*to);
  RangeRequest all;
  all.start = "/registry/";
  all.end = "/registry0";
  EXPECT_EQ(to.run(served.range(all)).status().message(), "the store is a copy of the source that has not been finished");
  target.before_txn = nullptr;
  from.put("/registry/configmaps/default/c7", "changed meanwhile");
  from.remove("/registry/configmaps/default/c1");
  from.remove("/registry/configmaps/default/c999");
  const auto done = copy();
  ASSERT_TRUE(done.ok()) << done.status().message();
  EXPECT_TRUE(done->resumed);
  EXPECT_EQ(to.dump("/registry/"), from.dump("/registry/"));
  EXPECT_TRUE(to.run(served.range(all)).ok());
}

TEST_F(StoreCopy, ConcurrentWritesAreCopiedInAnotherPass) {
  bool written = false;
  target.before_txn = [&](TxnRequest& request) {
    const bool copying = !request.puts.empty() && request.puts.front().key.starts_with("/registry/");
    if (copying && !std::exchange(written, true)) {
      std::thread([&] {
        from.put("/registry/configmaps/default/a", "late");
        from.remove("/registry/configmaps/default/c2");
      }).join();
    }
    return Status();
  };
  OpenStore other{memory()};  // this loop runs the copy; the writes above need the source's loop
  CopySettings settings;
  const auto done = other.run(copy_store(source, target, std::move(settings)));
  ASSERT_TRUE(done.ok()) << done.status().message();
  EXPECT_EQ(to.dump("/registry/"), from.dump("/registry/"));
  EXPECT_EQ(to.get("/registry/configmaps/default/a"), "late");
}

TEST_F(StoreCopy, ATargetThatKeepsSomethingElseIsFoundOut) {
  target.before_txn = [](TxnRequest& request) {
    for (Put& put : request.puts) {
      if (put.key == "/registry/configmaps/default/c500") put.value = SharedBytes(std::string("v501"));
    }
    return Status();
  };
  const auto done = copy();
  EXPECT_EQ(done.status().reason(), Reason::kInternalError);
  EXPECT_THAT(done.status().message(), testing::StartsWith("target: it is not what was written to it: 1201 keys, sha256 "));
}

TEST_F(StoreCopy, ANonEmptyTargetIsNotWritten) {
  to.put("/registry/configmaps/default/own", "1");
  const auto done = copy();
  EXPECT_EQ(done.status().reason(), Reason::kConflict);
  EXPECT_EQ(done.status().message(), R"(target: it is not empty: it holds 1 keys, the first is "/registry/configmaps/default/own")");
  EXPECT_EQ(to.dump("/registry"), "/registry/configmaps/default/own=1");
}

TEST_F(StoreCopy, AnUnfinishedCopyOfAnotherSourceIsNotContinued) {
  to.put(std::string(kHoldKey), to_text({StoreHold::Kind::kFilling, "another one"}));
  EXPECT_EQ(copy().status().reason(), Reason::kConflict);
  EXPECT_EQ(to.run(release_store(*to)).reason(), Reason::kConflict) << "half a store is not let go";
}

TEST_F(StoreCopy, ASourceWithNothingInItIsAMistake) {
  OpenStore nothing{memory()};
  const auto done = nothing.run(copy_store(*nothing, *to, CopySettings()));
  EXPECT_EQ(done.status().reason(), Reason::kBadRequest);
  EXPECT_EQ(to.dump("/registry"), "");
}

TEST_F(StoreCopy, ASourceThatIsAnUnfinishedCopyIsRefused) {
  from.put(std::string(kHoldKey), to_text({StoreHold::Kind::kFilling, "another one"}));
  EXPECT_EQ(copy().status().message(), "source: it is a copy of another one that has not been finished");
}

TEST_F(StoreCopy, AHeldSourceTakesNoWritesUntilItIsReleased) {
  HeldStorage server(*from);
  TxnRequest write;
  write.puts.push_back({"/registry/configmaps/default/new", SharedBytes(std::string("1")), 0});
  Status during;
  bool asked = false;
  target.before_txn = [&](TxnRequest& request) {
    const bool copying = !request.puts.empty() && request.puts.front().key.starts_with("/registry/");
    if (copying && !std::exchange(asked, true)) std::thread([&] { during = from.run(server.txn(write)).status(); }).join();
    return Status();
  };
  OpenStore other{memory()};
  CopySettings settings;
  settings.to = "etcd:http://new";
  settings.hold_source = true;
  const auto done = other.run(copy_store(source, target, std::move(settings)));
  ASSERT_TRUE(done.ok()) << done.status().message();
  EXPECT_EQ(during.reason(), Reason::kServiceUnavailable);
  EXPECT_EQ(during.message(), "the store takes no writes: it is being moved to etcd:http://new");
  EXPECT_EQ(from.run(server.txn(write)).status().reason(), Reason::kServiceUnavailable) << "the target is the store now";
  EXPECT_TRUE(from.run(server.range(RangeRequest())).ok()) << "reads go on";
  ASSERT_TRUE(from.run(release_store(*from)).ok());
  EXPECT_TRUE(from.run(server.txn(write)).ok());
  EXPECT_EQ(from.run(release_store(*from)).reason(), Reason::kNotFound);
}

TEST_F(StoreCopy, ACopyThatFailsLetsTheSourceGo) {
  target.before_txn = [](TxnRequest& request) {
    const bool copying = !request.puts.empty() && request.puts.front().key.starts_with("/registry/");
    return copying ? service_unavailable("full") : Status();
  };
  EXPECT_FALSE(copy(/*hold=*/true).ok());
  EXPECT_EQ(from.get(std::string(kHoldKey)), "-");
}

TEST_F(StoreCopy, AWriteToASourceWithAnExpiredHoldIsDetected) {
  source.before_txn = [&](TxnRequest& request) {
    // The last hold is permanent (it has no lease); an earlier hold may have expired with its lease.
    const bool permanent = !request.puts.empty() && request.puts.front().key == kHoldKey && request.puts.front().lease == 0;
    if (permanent) std::thread([&] { from.put("/registry/configmaps/default/c3", "a value that is not read"); }).join();
    return Status();
  };
  OpenStore other{memory()};
  CopySettings settings;
  settings.to = "the target";
  settings.hold_source = true;
  const auto done = other.run(copy_store(source, target, std::move(settings)));
  EXPECT_EQ(done.status().reason(), Reason::kConflict);
  EXPECT_EQ(done.status().message(), "source: it has been written to since it was read: copy again");
  EXPECT_EQ(from.get(std::string(kHoldKey)), "-") << "its servers go on";
  EXPECT_NE(to.get(std::string(kHoldKey)), "-") << "the target is not to be served";
}

TEST_F(StoreCopy, TheTargetIsNeverBehindTheSource) {
  bool moved = false;
  target.after_range = [&](RangeResult& result) {
    // The target is being verified, so all objects have been copied.  The source still gets writes to keys that are no objects: servers
    // request the progress of an old etcd by a write.
    if (result.items.size() < 100 || std::exchange(moved, true)) return;
    std::thread([&] {
      for (int i = 0; i < 4000; ++i) from.put("/registry.other", std::to_string(i));
    }).join();
  };
  OpenStore other{memory()};
  CopySettings settings;
  settings.hold_source = true;
  const auto done = other.run(copy_store(source, target, std::move(settings)));
  ASSERT_TRUE(done.ok()) << done.status().message();
  ASSERT_TRUE(moved);
  EXPECT_GE(to.newest(), from.newest() + 1000) << "clients of the source's servers may have seen a little more";
}

TEST_F(StoreCopy, ASourceThatWasMovedPermanentlyStaysMoved) {
  from.put(std::string(kHoldKey), to_text({StoreHold::Kind::kLeaving, "somewhere else"}));
  const auto done = copy(/*hold=*/true);
  EXPECT_EQ(done.status().reason(), Reason::kConflict);
  EXPECT_EQ(done.status().message(), "source: the store takes no writes: it is being moved to somewhere else");
  EXPECT_NE(from.get(std::string(kHoldKey)), "-");
}

TEST_F(StoreCopy, ATransactionThatFailsForItsOwnReasonsDoesSoUnderAHeldStore) {
  HeldStorage server(*from);
  TxnRequest write;
  write.compares.push_back({"/registry/configmaps/default/c1", 1});
  write.puts.push_back({"/registry/configmaps/default/c1", SharedBytes(std::string("x")), 0});
  const auto result = from.run(server.txn(write));
  ASSERT_TRUE(result.ok());
  EXPECT_FALSE(result->committed);
  ASSERT_EQ(result->found.size(), 1u);
  EXPECT_EQ(result->found[0].key, "/registry/configmaps/default/c1");
}

}  // namespace
}  // namespace backplane
