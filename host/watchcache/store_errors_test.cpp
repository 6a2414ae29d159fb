// The cache with a store that fails: watches end, and calls throw exceptions of any type.
#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "backplane/core/metrics.hpp"
#include "base/io_loop.hpp"
#include "storage/memory_storage.hpp"
#include "watchcache/continue_token.hpp"
#include "watchcache/resource_cache.hpp"

namespace backplane {
namespace {

// A store whose behaviour the test sets.
class FailingStorage final : public StorageBackend {
 public:
  std::atomic<int> throwing_ranges{0};   // the next `throwing_ranges` ranges throw an object that is not a std::exception
  std::atomic<int> throwing_watches{0};  // the next `throwing_watches` batches of events throw such an object
  std::atomic<bool> damaged_ranges{false};
  std::atomic<bool> hold_ranges{false};  // ranges do not return while this is set
  std::atomic<int> ranges{0};
  std::atomic<std::size_t> largest_range{0};  // objects in one response
  std::atomic<int> watches{0};
  std::atomic<bool> quiet{false};  // watches report progress only on request
  std::atomic<int> asked{0};       // the number of requests for progress
  // Values that begin with kCorrupt cannot be read until `repaired` is set. Values that begin with kSealed cannot be read while
  // `key_service_down` is set.
  static constexpr std::string_view kCorrupt = "rotten", kSealed = "sealed";
  std::atomic<bool> key_service_down{false};
  std::atomic<bool> repaired{false};

  void break_watch() {
    std::lock_guard lock(mutex_);
    watch_->cancel();
  }

  // Replaces the store by an empty one, as if it had been restored from a backup or recreated.
  void replace_store() { before_ = std::exchange(below_, make_memory_storage()); }

  Task<Result<Revision>> current_revision() override { return below_->current_revision(); }
  Revision committed_revision() const noexcept override { return quiet.load() ? 0 : below_->committed_revision(); }
  bool progress_is_immediate() const noexcept override { return !quiet.load(); }
  Task<Status> request_progress() override {
    ++asked;
    co_return Status();
  }
  Task<Result<RangeResult>> range(RangeRequest request) override {
    ++ranges;
    if (throwing_ranges.fetch_sub(1) > 0) throw 7;
    if (damaged_ranges.load()) co_return internal_error("block checksum mismatch");
    auto result = co_await below_->range(std::move(request));
    if (result.ok()) largest_range = std::max(largest_range.load(), result->items.size());
    if (result.ok()) {
      for (KeyValue& item : result->items) corrupt_value(item);
    }
    while (hold_ranges.load()) {
      auto pause = sleep_for(std::chrono::milliseconds(1));
      co_await std::move(pause);
    }
    co_return result;
  }
  Task<Result<TxnResult>> txn(TxnRequest request) override { return below_->txn(std::move(request)); }
  Result<std::unique_ptr<StorageWatch>> watch(std::string prefix, Revision after) override {
    auto opened = below_->watch(std::move(prefix), after);
    if (!opened.ok()) return opened;
    auto shared = std::shared_ptr<StorageWatch>(std::move(*opened));
    {
      std::lock_guard lock(mutex_);
      watch_ = shared;
    }
    ++watches;
    return std::unique_ptr<StorageWatch>(std::make_unique<Watch>(*this, std::move(shared)));
  }
  Task<Status> compact(Revision revision) override { return below_->compact(revision); }
  Task<Result<LeaseId>> grant_lease(std::chrono::seconds ttl) override { return below_->grant_lease(ttl); }
  Task<Status> health(std::chrono::milliseconds timeout) override { return below_->health(timeout); }
  Task<Status> stop() override { return below_->stop(); }

 private:
  void corrupt_value(KeyValue& item) const {
    const bool corrupt = item.value.view().starts_with(kCorrupt) && !repaired.load();
    const bool sealed = item.value.view().starts_with(kSealed) && key_service_down.load();
    if (!corrupt && !sealed) return unseal(item);
    item.value = SharedBytes();
    item.unreadable = std::make_shared<const Status>(
        500, Reason::kNone,
        "unable to transform key \"" + item.key + "\": " + (corrupt ? "no key fits" : "rpc error: code = Unavailable desc = away"));
  }
  static void unseal(KeyValue& item) {
    const std::string_view text = item.value.view();
    if (!text.starts_with(kCorrupt) && !text.starts_with(kSealed)) return;
    const std::string_view name = std::string_view(item.key).substr(item.key.rfind('/') + 1);
    item.value = SharedBytes(R"({"metadata":{"name":")" + std::string(name) + R"("}})");
  }

  class Watch final : public StorageWatch {
   public:
    Watch(FailingStorage& owner, std::shared_ptr<StorageWatch> below) : owner_(owner), below_(std::move(below)) {}
    Task<Result<EventBatch>> next() override {
      auto reading = below_->next();
      auto batch = co_await std::move(reading);
      if (batch.ok() && owner_.throwing_watches.fetch_sub(1) > 0) throw 7;
      if (!batch.ok()) co_return batch;
      for (StorageEvent& event : batch->events) owner_.corrupt_value(event.kv);
      const int before = owner_.asked.load();
      while (batch->events.empty() && owner_.quiet.load() && owner_.asked.load() == before) {
        auto pause = sleep_for(std::chrono::milliseconds(1));
        co_await std::move(pause);
      }
      co_return batch;
    }
    void cancel() override { below_->cancel(); }

   private:
    FailingStorage& owner_;
    std::shared_ptr<StorageWatch> below_;
  };

  std::unique_ptr<StorageBackend> below_ = make_memory_storage(), before_;
  std::mutex mutex_;
  std::shared_ptr<StorageWatch> watch_;
};

class StoreErrors : public testing::Test {
 protected:
  StoreErrors() {
    loop_.start();
    pump_.start();
    start();
  }
  void start(CacheOptions options = {}) {
    hub_ = make_cache_hub(objects_, pump_, options);
    cache_ = add("configmaps", "ConfigMap");
    EXPECT_TRUE(run_on(loop_, hub_->start()).ok());
  }
  ~StoreErrors() override {
    run_on(loop_, hub_->stop());
    pump_.stop();
    loop_.stop();
  }

  std::shared_ptr<ResourceCache> add(const std::string& resource, const std::string& kind) {
    CacheConfig config;
    config.prefix = "/registry/" + resource + "/";
    config.resource = {"", resource};
    config.kind = kind;
    config.api_version = "v1";
    return hub_->add(config, false);
  }
  void put(const std::string& name, const std::string& resource = "configmaps", const std::string& data = {}) {
    const std::string json = R"({"metadata":{"name":")" + name + R"("},"data":")" + data + "\"}";
    TxnRequest request;
    request.puts.push_back({"/registry/" + resource + "/ns/" + name, SharedBytes(json), 0});
    EXPECT_TRUE(run_on(loop_, storage_.txn(std::move(request))).ok());
  }
  void write(const std::string& key, std::string value) {
    TxnRequest request;
    request.puts.push_back({key, SharedBytes(std::move(value)), 0});
    EXPECT_TRUE(run_on(loop_, storage_.txn(std::move(request))).ok());
  }
  void remove(const std::string& key) {
    TxnRequest request;
    request.removes.push_back(key);
    EXPECT_TRUE(run_on(loop_, storage_.txn(std::move(request))).ok());
  }
  Result<ObjectRef> get(const std::string& name) { return run_on(loop_, cache_->get("/registry/configmaps/ns/" + name, "")); }
  // Lists; sets `shown` to the names, followed by the revision of the list.
  static Task<void> read(std::shared_ptr<ResourceCache> cache, std::promise<std::string>& shown) {
    CacheScope scope;
    ListOptions options;
    auto listing = cache->list(std::move(scope), std::move(options));
    auto list = co_await std::move(listing);
    std::string text;
    if (list.ok()) {
      auto reading = for_each(*list->items, [&](const ObjectEntry& entry) { text.append(entry.name()).append(" "); });
      auto status = co_await std::move(reading);
      text += status.ok() ? std::to_string(list->revision) : status.message();
    } else {
      text = list.status().message();
    }
    shown.set_value(text);
  }
  std::future<std::string> begin_read() {
    spawn_detached(loop_, read(cache_, shown_));
    return shown_.get_future();
  }
  std::string names() { return names(cache_); }
  std::string names(std::shared_ptr<ResourceCache> cache) {
    std::promise<std::string> shown;
    run_on(loop_, read(std::move(cache), shown));
    return shown.get_future().get();
  }
  template <class Condition>
  static void wait_until(const Condition& condition) {
    while (!condition()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  IoLoop loop_{"test"};
  IoLoop pump_{"pump"};
  FailingStorage storage_;
  ObjectStorage objects_{storage_};
  std::unique_ptr<CacheHub> hub_;
  std::shared_ptr<ResourceCache> cache_;
  std::promise<std::string> shown_;
};

Task<Result<ListResult>> list_at(ResourceCache& cache, Revision revision) {
  CacheScope scope;
  ListOptions options;
  options.resource_version = std::to_string(revision);
  options.match = ResourceVersionMatch::kExact;
  auto listing = cache.list(std::move(scope), std::move(options));
  auto list = co_await std::move(listing);
  co_return list;
}

Task<std::size_t> count_items(ObjectCursor& items) {
  std::size_t count = 0;
  auto reading = for_each(items, [&count](const ObjectEntry&) { ++count; });
  auto status = co_await std::move(reading);
  co_return status.ok() ? count : 0;
}

TEST_F(StoreErrors, AnOldRevisionIsReadFromTheStoreAPageAtATime) {
  constexpr std::size_t kObjects = 2'500;
  for (std::size_t i = 0; i < kObjects;) {
    TxnRequest request;
    for (int part = 0; part < 100; ++part, ++i) {
      request.puts.push_back({"/registry/configmaps/ns/" + std::to_string(i), SharedBytes(R"({"metadata":{"name":"x"}})"), 0});
    }
    ASSERT_TRUE(run_on(loop_, storage_.txn(std::move(request))).ok());
  }
  EXPECT_FALSE(names().empty());
  const Revision then = storage_.committed_revision();
  put("later");
  put("last");
  EXPECT_FALSE(names().empty());
  storage_.largest_range = 0;
  auto list = run_on(loop_, list_at(*cache_, then));
  ASSERT_TRUE(list.ok()) << list.status().message();
  const int before = storage_.ranges;
  EXPECT_EQ(run_on(loop_, count_items(*list->items)), kObjects);
  EXPECT_EQ(storage_.ranges - before, 2) << "the rest, as it is asked for";
  EXPECT_EQ(storage_.largest_range, 1'000u);
  ASSERT_TRUE(list->items->rewind());
  EXPECT_EQ(run_on(loop_, count_items(*list->items)), kObjects);
}

Task<Result<ListResult>> list_page(ResourceCache& cache, ListOptions options) {
  CacheScope scope;
  auto listing = cache.list(std::move(scope), std::move(options));
  auto list = co_await std::move(listing);
  co_return list;
}

// Reads to the end.
Task<Status> read_out(ObjectCursor& items) {
  auto reading = for_each(items, [](const ObjectEntry&) {});
  auto status = co_await std::move(reading);
  co_return status;
}

TEST_F(StoreErrors, AListWhoseRevisionIsCompactedDuringTheReadHasUpstreamsError) {
  for (int i = 0; i < 1'200; ++i) put(std::to_string(10'000 + i));
  EXPECT_FALSE(names().empty());
  const Revision then = storage_.committed_revision();
  put("later");
  EXPECT_FALSE(names().empty());
  auto list = run_on(loop_, list_at(*cache_, then));
  ASSERT_TRUE(list.ok()) << list.status().message();
  // The list can be continued at the same revision.
  ListOptions options;
  options.continue_token = encode_continue("/registry/configmaps/ns/10001", "/registry/configmaps/", then);
  auto rest = run_on(loop_, list_page(*cache_, options));
  ASSERT_TRUE(rest.ok()) << rest.status().message();
  ASSERT_TRUE(run_on(loop_, storage_.compact(then + 1)).ok());

  const Status gone = run_on(loop_, read_out(*list->items));
  EXPECT_EQ(gone.code(), 410);
  EXPECT_EQ(gone.message(), "The resourceVersion for the provided list is too old.");
  const Status rest_gone = run_on(loop_, read_out(*rest->items));
  EXPECT_EQ(rest_gone.code(), 410);
  EXPECT_EQ(rest_gone.message().find("The provided continue parameter is too old to display a consistent list result."), 0u);
  options.continue_token = rest_gone.continue_token();
  rest = run_on(loop_, list_page(*cache_, options));
  ASSERT_TRUE(rest.ok()) << rest.status().message();
  EXPECT_EQ(run_on(loop_, count_items(*rest->items)), 1'200u) << "all but the first, and the one that came later";
}

TEST_F(StoreErrors, AStoreWithALowerRevisionIsReloadedAndNothingOldIsShown) {
  storage_.quiet = true;
  for (const char* name : {"a", "b", "c"}) put(name);
  EXPECT_EQ(names(), "a b c 4");
  storage_.replace_store();
  put("new");
  EXPECT_EQ(names(), "storage is (re)initializing");
  std::string shown;
  wait_until([&] {
    shown = names();
    return shown != "storage is (re)initializing";
  });
  EXPECT_EQ(shown, "new 2");
  EXPECT_EQ(*get("a"), nullptr);
}

// ---- values that cannot be read

class UnreadableObjectsInStore : public StoreErrors {
 protected:
  const ResourceCache& objects() const { return *cache_; }
};

constexpr std::string_view kNoKeyFits = "unable to transform key \"/registry/configmaps/ns/b\": no key fits";

TEST_F(UnreadableObjectsInStore, AnObjectIsLeftOutOfListsAndFailsItsGet) {
  const auto other = add("secrets", "Secret");
  put("a");
  write("/registry/configmaps/ns/b", "rotten");
  put("c");
  put("s", "secrets");
  EXPECT_EQ(names(), "a c 5");
  EXPECT_TRUE(cache_->ready());
  EXPECT_EQ(names(other), "s 5");
  EXPECT_EQ((*get("a"))->name(), "a");
  EXPECT_EQ(*get("d"), nullptr);
  EXPECT_EQ(get("b").status().message(), kNoKeyFits);
  EXPECT_EQ(get("b").status().code(), 500);
  ListOptions page;
  page.limit = 1;
  const auto first = run_on(loop_, list_page(*cache_, page));
  ASSERT_TRUE(first.ok());
  page.continue_token = first->continue_token;
  const auto second = run_on(loop_, list_page(*cache_, page));
  ASSERT_TRUE(second.ok()) << second.status().message();
  EXPECT_TRUE(second->continue_token.empty());
  const Unreadable all = objects().unreadable({});
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all.begin()->first, "/registry/configmaps/ns/b");
  EXPECT_EQ(all.begin()->second->message(), kNoKeyFits);
  EXPECT_TRUE(objects().list_refusal({}).ok());
}

TEST_F(UnreadableObjectsInStore, AListCanBeRefusedWithTheNamesOfAll) {
  run_on(loop_, hub_->stop());
  CacheOptions naming;
  naming.names_unreadable = true;
  start(naming);
  put("a");
  for (int i = 100; i < 205; ++i) write("/registry/configmaps/ns/b" + std::to_string(i), "rotten");
  EXPECT_EQ(names(), "a 107");
  const Status refused = objects().list_refusal({});
  EXPECT_EQ(refused.code(), 500);
  EXPECT_EQ(refused.reason(), Reason::kStorageReadError);
  EXPECT_EQ(refused.message(), "failed to read one or more configmaps from the storage");
  const StatusDetails& details = *refused.details();
  EXPECT_EQ(details.kind + " " + details.name, "configmaps list");
  ASSERT_EQ(details.causes.size(), 101u);
  EXPECT_EQ(details.causes[0].field, "/registry/configmaps/ns/b100");
  EXPECT_EQ(details.causes[0].reason, "UnexpectedServerResponse");
  EXPECT_EQ(details.causes[0].message, "unable to transform key \"/registry/configmaps/ns/b100\": no key fits");
  EXPECT_EQ(details.causes[100].reason, "FieldValueTooMany");
}

TEST_F(UnreadableObjectsInStore, ObjectsAreThoseOfTheScope) {
  put("a");
  write("/registry/configmaps/other/b", "rotten");
  CacheScope scope;
  scope.ns = "ns";
  EXPECT_EQ(names(), "a 3");
  EXPECT_TRUE(objects().unreadable(scope).empty());
  scope.ns = "other";
  EXPECT_EQ(objects().unreadable(scope).size(), 1u);
  scope.name = "c";
  EXPECT_TRUE(objects().unreadable(scope).empty());
}

TEST_F(StoreErrors, TheCacheRecoversWhenAnUnreadableObjectIsDeleted) {
  put("a");
  write("/registry/configmaps/ns/b", "rotten");
  EXPECT_EQ(names(), "a 3");
  remove("/registry/configmaps/ns/b");
  EXPECT_EQ(names(), "a 4");
  EXPECT_EQ(*get("b"), nullptr);
}

TEST_F(StoreErrors, AnObjectThatIsWrittenAnewCanBeReadAgain) {
  put("a");
  write("/registry/configmaps/ns/b", "rotten");
  EXPECT_EQ(names(), "a 3");
  put("b");
  EXPECT_EQ(names(), "a b 4");
}

TEST_F(StoreErrors, AnObjectWhoseKeyIsAvailableAgainIsShownWithoutAWrite) {
  run_on(loop_, hub_->stop());
  CacheOptions options;
  options.retry_unreadable = std::chrono::milliseconds(5);
  start(options);
  write("/registry/configmaps/ns/a", "rotten");
  EXPECT_EQ(names(), "2");
  EXPECT_FALSE(get("a").ok());
  storage_.repaired = true;
  wait_until([this] { return names() == "a 2"; });
  EXPECT_TRUE(get("a").ok());
}

TEST_F(StoreErrors, WhileAKeyServiceIsUnavailableNoIncompleteListIsShown) {
  put("a");
  write("/registry/configmaps/ns/b", "sealed");
  storage_.key_service_down = true;
  EXPECT_EQ(names(), "unable to transform key \"/registry/configmaps/ns/b\": rpc error: code = Unavailable desc = away");
  storage_.key_service_down = false;
  wait_until([this] { return names() == "a b 3"; });
}

TEST_F(StoreErrors, AnEventThatCannotBeDecryptedAtTheMomentIsNotLost) {
  put("a");
  EXPECT_EQ(names(), "a 2");
  storage_.key_service_down = true;
  write("/registry/configmaps/ns/b", "sealed");
  wait_until([this] { return names().find("code = Unavailable") != std::string::npos; });
  storage_.key_service_down = false;
  wait_until([this] { return names() == "a b 3"; });
}

double terminated(const std::string& resource) {
  for (const auto& metric : Metric::all()) {
    if (metric.name != "apiserver_terminated_watchers_total") continue;
    const auto series = metric.series.find({"", resource});
    return series != metric.series.end() ? series->second.value : 0;
  }
  return 0;
}

TEST_F(StoreErrors, AWatchWhoseReaderFallsBehindIsEndedAndCounted) {
  put("a");
  EXPECT_EQ(names(), "a 2");
  CacheScope scope;
  ListOptions options;
  options.resource_version = "2";
  auto watch = run_on(loop_, cache_->watch(scope, options));
  ASSERT_TRUE(watch.ok());
  const double before = terminated("configmaps");
  const std::string object = R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"x","namespace":"ns"}})";
  for (int round = 0; round < 30; ++round) {
    TxnRequest many;
    for (int i = 0; i < 1000; ++i)
      many.puts.push_back({"/registry/configmaps/ns/x" + std::to_string(i), SharedBytes(std::string(object)), 0});
    EXPECT_TRUE(run_on(loop_, storage_.txn(std::move(many))).ok());
  }
  EXPECT_TRUE(names().ends_with(" 32")) << "the cache has seen it all";
  Status ended;
  while (ended.ok()) {
    const auto events = run_on(loop_, (*watch)->next());
    ended = events.ok() ? Status() : Status(events.status().code(), events.status().reason(), events.status().message());
    ASSERT_FALSE(events.ok() && events->empty()) << "it has read everything";
  }
  EXPECT_EQ(ended.code(), 410);
  EXPECT_EQ(terminated("configmaps"), before + 1);
}

TEST_F(StoreErrors, AnObjectThatBecomesUnreadableEndsTheWatchesOfItsResourceAlone) {
  const auto other = add("secrets", "Secret");
  put("a");
  put("b");
  put("s", "secrets");
  EXPECT_EQ(names(), "a b 4");
  EXPECT_EQ(names(other), "s 4");
  CacheScope scope;
  ListOptions options;
  options.resource_version = "4";
  auto watch = run_on(loop_, cache_->watch(scope, options));
  auto untouched = run_on(loop_, other->watch(scope, options));
  ASSERT_TRUE(watch.ok() && untouched.ok());
  write("/registry/configmaps/ns/b", "rotten");
  const auto ended = run_on(loop_, (*watch)->next());
  EXPECT_EQ(ended.status().code(), 410) << "the client lists again";
  EXPECT_EQ(names(), "a 5");
  EXPECT_EQ(get("b").status().message(), kNoKeyFits);
  put("t", "secrets");
  const auto events = run_on(loop_, (*untouched)->next());
  ASSERT_TRUE(events.ok()) << events.status().message();
  EXPECT_EQ(events->at(0).object->name(), "t");
  // A watch with initial events omits the unreadable object, too.
  options.resource_version = "";
  options.send_initial_events = true;
  options.match = ResourceVersionMatch::kNotOlderThan;
  watch = run_on(loop_, cache_->watch(scope, options));
  ASSERT_TRUE(watch.ok());
  const auto initial = run_on(loop_, (*watch)->next());
  ASSERT_TRUE(initial.ok()) << initial.status().message();
  EXPECT_EQ(initial->at(0).object->name(), "a");
  remove("/registry/configmaps/ns/b");
  EXPECT_EQ(names(), "a 7");
}

TEST_F(UnreadableObjectsInStore, AnOldStateLeavesTheObjectOutToo) {
  put("a");
  write("/registry/configmaps/ns/b", "rotten");
  put("b");
  put("later");
  EXPECT_EQ(names(), "a b later 5");
  EXPECT_EQ(run_on(loop_, list_at(*cache_, 2)).value().revision, 2);
  auto list = run_on(loop_, list_at(*cache_, 3));
  ASSERT_TRUE(list.ok()) << list.status().message();
  const Status status = run_on(loop_, read_out(*list->items));
  EXPECT_TRUE(status.ok()) << status.message();
}

// ---- a store whose watches report progress only on request

TEST_F(StoreErrors, AConsistentReadAsksTheStoreForItsProgress) {
  put("a");
  EXPECT_EQ(names(), "a 2");
  storage_.quiet = true;
  write("/elsewhere", "x");  // no cache's prefix: the watch has no event
  EXPECT_EQ(storage_.asked, 0) << "no reader waits";
  EXPECT_EQ(names(), "a 3");
  EXPECT_GT(storage_.asked, 0);
  const int asked = storage_.asked;
  EXPECT_EQ(names(), "a 3");
  EXPECT_EQ(storage_.asked, asked) << "it is known by now";
}

TEST_F(StoreErrors, AStoreThatReportsItsProgressUnrequestedIsNotAsked) {
  put("a");
  write("/elsewhere", "x");
  EXPECT_EQ(names(), "a 3");
  EXPECT_EQ(storage_.asked, 0);
}

TEST_F(StoreErrors, ABrokenStoreWatchShowsNoOldStateUnderANewRevision) {
  put("a");
  EXPECT_EQ(names(), "a 2");
  storage_.hold_ranges = true;
  storage_.break_watch();
  put("b");  // no event is delivered
  auto shown = begin_read();
  const int before = storage_.ranges;
  wait_until([&] { return storage_.watches == 2 && storage_.ranges > before; });
  storage_.hold_ranges = false;
  EXPECT_EQ(shown.get(), "a b 3");
}

TEST_F(StoreErrors, AStoreWatchThatBreaksUnderALoadLosesNothing) {
  put("a");
  storage_.hold_ranges = true;
  auto shown = begin_read();
  wait_until([&] { return storage_.ranges == 1; });
  storage_.break_watch();
  put("b");  // neither in the loaded state nor among the events
  wait_until([&] { return storage_.watches == 2; });
  storage_.hold_ranges = false;
  EXPECT_EQ(shown.get(), "a b 3");
}

TEST_F(StoreErrors, ALoadThatMissesMoreThanIsKeptForItBeginsAnew) {
  const auto other = add("secrets", "Secret");
  put("a");
  EXPECT_EQ(names(other), "2");
  storage_.hold_ranges = true;
  const int before = storage_.ranges;
  auto shown = begin_read();
  wait_until([&] { return storage_.ranges == before + 1; });
  // Each event has the size of its object and of its previous object, so these events exceed 64 MB.
  const std::string megabyte(1 << 20, 'x');
  for (int i = 0; i < 34; ++i) put("b", "configmaps", megabyte);
  put("last", "secrets");
  wait_until([&] { return other->peek("/registry/secrets/ns/last") != nullptr; });  // the pump has passed all of them
  storage_.hold_ranges = false;
  wait_until([&] { return cache_->ready(); });
  EXPECT_EQ(storage_.ranges, before + 2);
  EXPECT_EQ(names(), "a b 37");
  shown.wait();
}

TEST_F(StoreErrors, AnExceptionInALoadIsALoadAgain) {
  put("a");
  storage_.throwing_ranges = 1;
  EXPECT_EQ(names(), "a 2");
  put("b");
  EXPECT_EQ(names(), "a b 3");
}

TEST_F(StoreErrors, ACacheWhoseLoadsFailedIsLoadedWhenItIsUsedAgain) {
  put("a");
  storage_.throwing_ranges = 3;
  EXPECT_EQ(names(), "storage is (re)initializing");
  wait_until([this] { return names() == "a 2"; });
}

TEST_F(StoreErrors, AStoreThatCannotBeReadIsNotReadByEveryRequest) {
  put("a");
  storage_.throwing_ranges = 1'000'000;
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 200; ++i) EXPECT_EQ(names(), "storage is (re)initializing");
  const auto took = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - start);
  EXPECT_LE(storage_.ranges, 3 * (took.count() + 2));  // three attempts per second
}

TEST_F(StoreErrors, TheErrorOfAnUnreadableStoreIsReturned) {
  put("a");
  storage_.damaged_ranges = true;
  EXPECT_EQ(names(), "Internal error occurred: block checksum mismatch");
  storage_.damaged_ranges = false;
  wait_until([this] { return names() == "a 2"; });
}

TEST_F(StoreErrors, AnExceptionInThePumpLoadsWhatWasInUseAgain) {
  put("a");
  EXPECT_EQ(names(), "a 2");
  storage_.throwing_watches = 1;
  put("b");
  EXPECT_EQ(names(), "a b 3");
  put("c");
  EXPECT_EQ(names(), "a b c 4");
}

}  // namespace
}  // namespace backplane
