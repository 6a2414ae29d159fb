#include "backplane/net/informer.hpp"

#include <gtest/gtest.h>

#include <deque>

#include "backplane/core/request.hpp"
#include "turn_executor.hpp"

namespace backplane {
namespace {

ObjectRef object(const std::string& name, Revision revision, const std::string& ns = "default") {
  const std::string text = R"({"metadata":{"name":")" + name + R"(","namespace":")" + ns + R"("}})";
  auto made = std::make_shared<ObjectEntry>(*make_object(json::parse(text).get_object()));
  made->set_identity({}, ns, name);
  made->revision = revision;
  return made;
}

ObjectRef from_json(const std::string& text, Revision revision) {
  auto made = std::make_shared<ObjectEntry>(*make_object(json::parse(text).get_object()));
  made->revision = revision;
  return made;
}

WatchEvent event(WatchEvent::Type type, ObjectRef entry) {
  WatchEvent out;
  out.type = type;
  out.object = std::move(entry);
  return out;
}
WatchEvent added(const std::string& name, Revision revision) { return event(WatchEvent::Type::kAdded, object(name, revision)); }
WatchEvent modified(const std::string& name, Revision revision) { return event(WatchEvent::Type::kModified, object(name, revision)); }
WatchEvent deleted(const std::string& name, Revision revision) { return event(WatchEvent::Type::kDeleted, object(name, revision)); }
WatchEvent end_of_list(Revision revision) {
  return event(WatchEvent::Type::kBookmark, from_json(R"({"metadata":{"annotations":{"k8s.io/initial-events-end":"true"}}})", revision));
}
WatchEvent bookmark(Revision revision) { return event(WatchEvent::Type::kBookmark, from_json(R"({"metadata":{}})", revision)); }
WatchEvent expired() {
  return event(WatchEvent::Type::kError, from_json(R"({"kind":"Status","code":410,"reason":"Expired","message":"too old"})", 0));
}

class Stream final : public WatchStream {
 public:
  Task<Result<std::vector<WatchEvent>>> next() override {
    while (queue.empty() && !over) {
      woken = Promise<bool>();
      co_await woken.future();
    }
    co_return std::exchange(queue, {});
  }
  void cancel() override {
    over = true;
    woken.set(true);
  }
  void push(std::vector<WatchEvent> events) {
    for (auto& one : events) queue.push_back(std::move(one));
    woken.set(true);
  }
  std::vector<WatchEvent> queue;
  Promise<bool> woken;
  bool over = false;
};

// Returns the objects that the test has set, and records the calls.
class Source final : public ListerWatcher {
 public:
  explicit Source(bool streams) : streams_(streams) {}
  bool streams_lists() const noexcept override { return streams_; }
  Task<Result<Page>> list(ListOptions options) override {
    asked.push_back("list limit=" + std::to_string(options.limit) + " continue=" + options.continue_token);
    if (pages.empty()) co_return internal_error("no page");
    Page page = std::move(pages.front());
    pages.pop_front();
    co_return page;
  }
  Task<Result<std::shared_ptr<WatchStream>>> watch(ListOptions options) override {
    asked.push_back("watch from=" + options.resource_version + (options.send_initial_events.value_or(false) ? " initial" : ""));
    if (refuse.has_value()) co_return *std::exchange(refuse, std::nullopt);
    stream = std::make_shared<Stream>();
    co_return std::shared_ptr<WatchStream>(stream);
  }
  std::deque<Page> pages;
  std::optional<Status> refuse;
  std::shared_ptr<Stream> stream;
  std::vector<std::string> asked;

 private:
  const bool streams_;
};

using Texts = std::vector<std::string>;

// A storage that forwards to a server that refuses lists in watches. Its lists have two pages.
class RefusingStorage final : public RestStorage, public Lister, public Watcher {
 public:
  GroupVersionKind kind() const override { return {"", "v1", "ConfigMap"}; }
  const Schema* schema() const override { return nullptr; }
  std::string list_kind() const override { return "ConfigMapList"; }
  Task<Result<ListResult>> list(RequestContext& context, ListOptions options) override {
    asked.push_back("list " + context.info.ns + " limit=" + std::to_string(options.limit) + " continue=" + options.continue_token);
    const bool last = !options.continue_token.empty();
    ListResult result;
    result.revision = 9;
    result.continue_token = last ? "" : "more";
    result.items = make_cursor({object(last ? "b" : "a", last ? 2 : 1)});
    co_return std::move(result);
  }
  Task<Result<std::unique_ptr<WatchStream>>> watch(RequestContext& context, ListOptions options) override {
    const bool initial = options.send_initial_events.value_or(false);
    asked.push_back("watch " + context.info.ns + " from=" + options.resource_version + (initial ? " initial" : ""));
    if (initial) co_return internal_error("the required storage feature RequestWatchProgress is disabled");
    co_return std::unique_ptr<WatchStream>(std::make_unique<Stream>());
  }
  Texts asked;
};

class InformerTest : public ::testing::Test {
 protected:
  ~InformerTest() override { end(); }
  void end() {
    if (informer) informer->stop();
    turns.run_until_idle();
  }
  void make(bool streams) {
    end();
    source = std::make_shared<Source>(streams);
    informer = SharedInformer::make("maps", source, logger);
    informer->add_event_handler(noting());
  }
  ResourceEventHandler noting() {
    ResourceEventHandler handler;
    handler.on_add = [this](const ObjectRef& now, bool initial) {
      seen.push_back("+" + std::string(now->name()) + (initial ? " initial" : ""));
    };
    handler.on_update = [this](const ObjectRef& old, const ObjectRef& now) {
      seen.push_back(std::string(now->name()) + " " + std::to_string(old->revision) + ">" + std::to_string(now->revision));
    };
    handler.on_delete = [this](const ObjectRef& last, bool unknown) {
      seen.push_back("-" + std::string(last->name()) + (unknown ? " unknown" : ""));
    };
    return handler;
  }
  void start() { turns.start(informer->run()); }
  void push(std::vector<WatchEvent> events) {
    source->stream->push(std::move(events));
    turns.run_until_idle();
  }
  void end_stream() {
    source->stream->cancel();
    turns.run_until_idle();
  }
  Texts take_seen() { return std::exchange(seen, {}); }

  test::TurnExecutor turns;
  test::QuietLogger logger;
  std::shared_ptr<Source> source;
  std::shared_ptr<SharedInformer> informer;
  Texts seen;
};

TEST_F(InformerTest, SyncsWhenTheInitialEventsAreOver) {
  make(true);
  start();
  push({added("a", 3), added("b", 5)});
  EXPECT_FALSE(informer->has_synced());
  push({end_of_list(7), modified("a", 8)});
  EXPECT_TRUE(informer->has_synced());
  EXPECT_EQ(take_seen(), (Texts{"+a initial", "+b initial", "a 3>8"}));
  EXPECT_EQ(informer->last_sync_revision(), 8);
  EXPECT_EQ(informer->indexer().list_keys(), (Texts{"default/a", "default/b"}));
  EXPECT_EQ(source->asked, Texts{"watch from= initial"});
}

TEST_F(InformerTest, SharesTheObjectsItIsGiven) {
  make(true);
  start();
  const ObjectRef one = object("a", 3);
  push({event(WatchEvent::Type::kAdded, one), end_of_list(3)});
  EXPECT_EQ(informer->indexer().get("default/a"), one);
}

TEST_F(InformerTest, ContinuesWhereTheWatchEnded) {
  make(true);
  start();
  push({added("a", 3), end_of_list(3), bookmark(20)});
  end_stream();
  EXPECT_EQ(source->asked, (Texts{"watch from= initial", "watch from=20"}));
  push({deleted("a", 21)});
  EXPECT_EQ(take_seen(), (Texts{"+a initial", "-a"}));
  EXPECT_EQ(informer->indexer().size(), 0u);
  end_stream();
  EXPECT_EQ(source->asked.back(), "watch from=21");
}

TEST_F(InformerTest, ListsAgainWhenHistoryIsCompactedAndDeliversTheDifference) {
  make(true);
  start();
  push({added("stays", 3), added("changes", 4), added("goes", 5), end_of_list(5)});
  take_seen();
  push({expired()});
  turns.fire_timers();
  EXPECT_EQ(source->asked.back(), "watch from= initial");
  push({added("stays", 3), added("changes", 40), added("new", 41), end_of_list(50)});
  EXPECT_EQ(take_seen(), (Texts{"changes 4>40", "+new", "-goes unknown"}));
  EXPECT_EQ(informer->last_sync_revision(), 50);
}

TEST_F(InformerTest, ListsPageByPageWhereListsDoNotStream) {
  make(false);
  source->pages.push_back({{object("a", 1), object("b", 2)}, 9, "more"});
  source->pages.push_back({{object("c", 3)}, 9, ""});
  start();
  EXPECT_EQ(source->asked, (Texts{"list limit=500 continue=", "list limit=500 continue=more", "watch from=9"}));
  EXPECT_TRUE(informer->has_synced());
  EXPECT_EQ(take_seen(), (Texts{"+a initial", "+b initial", "+c initial"}));
}

// Regression: with kube-apiserver and an old etcd, every informer waited forever.
TEST_F(InformerTest, ListsWhereTheServerRefusesAListInAWatch) {
  make(true);
  source->refuse = bad_request("sendInitialEvents: Forbidden: etcd cannot request progress");
  source->pages.push_back({{object("a", 1)}, 9, ""});
  start();
  EXPECT_EQ(source->asked, (Texts{"watch from= initial", "list limit=500 continue=", "watch from=9"}));
  EXPECT_EQ(take_seen(), Texts{"+a initial"});
  EXPECT_TRUE(informer->has_synced());
}

TEST_F(InformerTest, ListsWhereAWatchWithAListEndsWithAnError) {
  make(true);
  source->pages.push_back({{object("a", 1)}, 9, ""});
  start();
  push({event(WatchEvent::Type::kError, from_json(R"({"kind":"Status","code":500,"reason":"InternalError","message":"no progress"})", 0))});
  EXPECT_EQ(source->asked, (Texts{"watch from= initial", "list limit=500 continue=", "watch from=9"}));
  EXPECT_TRUE(informer->has_synced());
}

TEST_F(InformerTest, ListsAStorageThatRefusesAListInAWatch) {
  const auto storage = std::make_shared<RefusingStorage>();
  informer = SharedInformer::make("maps", list_watch(storage, "default"), logger);
  informer->add_event_handler(noting());
  start();
  EXPECT_EQ(storage->asked, (Texts{"watch default from= initial",
                                   "list default limit=500 continue=", "list default limit=500 continue=more", "watch default from=9"}));
  EXPECT_EQ(take_seen(), (Texts{"+a initial", "+b initial"}));
  EXPECT_TRUE(informer->has_synced());
  EXPECT_EQ(logger.lines, Texts());
}

TEST_F(InformerTest, DoesNotListAResourceThatIsNotServed) {
  make(true);
  source->refuse = not_found("", "maps", "");
  start();
  EXPECT_EQ(source->asked, Texts{"watch from= initial"});
}

TEST_F(InformerTest, AServerThatIsBusyIsAskedForTheSameListAgain) {
  make(true);
  source->refuse = service_unavailable("not yet");
  start();
  turns.fire_timers();
  EXPECT_EQ(source->asked, (Texts{"watch from= initial", "watch from= initial"}));
}

TEST_F(InformerTest, RetriesWithGrowingPausesAndLogsTheReason) {
  make(false);
  start();
  turns.fire_timers();
  turns.fire_timers();
  using std::chrono::milliseconds;
  EXPECT_EQ(turns.delays, (std::vector<std::chrono::nanoseconds>{milliseconds(100), milliseconds(200), milliseconds(400)}));
  ASSERT_EQ(logger.lines.size(), 3u);
  EXPECT_NE(logger.lines[0].find("resource=maps"), std::string::npos);
  EXPECT_NE(logger.lines[0].find("no page"), std::string::npos);
  source->pages.push_back({{object("a", 1)}, 4, ""});
  turns.fire_timers();
  EXPECT_TRUE(informer->has_synced());
}

TEST_F(InformerTest, ALateHandlerGetsTheExistingObjects) {
  make(true);
  start();
  push({added("a", 3), end_of_list(3)});
  take_seen();
  const int number = informer->add_event_handler(noting());
  EXPECT_EQ(take_seen(), Texts{"+a initial"});
  informer->remove_event_handler(number);
  push({modified("a", 4)});
  EXPECT_EQ(take_seen(), Texts{"a 3>4"}) << "once, by the handler that is left";
}

TEST_F(InformerTest, ResyncShowsEveryObjectAgain) {
  make(true);
  start();
  push({added("a", 3), added("b", 4), end_of_list(4)});
  take_seen();
  turns.start(informer->run_resync(std::chrono::minutes(1)));
  turns.fire_timers();
  EXPECT_EQ(take_seen(), (Texts{"a 3>3", "b 4>4"}));
}

Task<void> note_synced(std::shared_ptr<SharedInformer> informer, Texts& out) {
  const bool synced = co_await informer->wait_synced();
  out.push_back(synced ? "synced" : "stopped");
}

TEST_F(InformerTest, WaitersAreNotifiedOfSyncOrStop) {
  make(true);
  Texts notes;
  turns.start(note_synced(informer, notes));
  start();
  EXPECT_TRUE(notes.empty());
  push({end_of_list(3)});
  EXPECT_EQ(notes, Texts{"synced"});
  make(true);
  turns.start(note_synced(informer, notes));
  informer->stop();
  turns.run_until_idle();
  EXPECT_EQ(notes, (Texts{"synced", "stopped"}));
}

TEST_F(InformerTest, StopEndsTheWatchAndThePause) {
  make(false);
  start();  // waits before it lists again
  informer->stop();
  turns.run_until_idle();
  make(true);
  start();
  informer->stop();
  turns.run_until_idle();
  EXPECT_TRUE(source->stream->over);
  EXPECT_EQ(source->asked.size(), 1u) << "nothing is opened anew";
}

TEST(IndexerTest, FindsByNamespaceAndByIndexesOfOnesOwn) {
  Indexer indexer;
  indexer.put(object("a", 1, "one"));
  const auto by_length = [](const ObjectEntry& entry) { return Texts{std::to_string(entry.name().size())}; };
  EXPECT_TRUE(indexer.add_indexers({{"length", by_length}}).ok());
  EXPECT_EQ(indexer.add_indexers({{"length", by_length}}).reason(), Reason::kAlreadyExists);
  indexer.put(object("bb", 2, "one"));
  indexer.put(object("c", 3, "two"));
  EXPECT_EQ(*indexer.index_keys("namespace", "one"), (Texts{"one/a", "one/bb"}));
  EXPECT_EQ(*indexer.index_keys("length", "1"), (Texts{"one/a", "two/c"}));
  EXPECT_EQ(indexer.by_index("length", "2")->size(), 1u);
  EXPECT_EQ(*indexer.index_values("namespace"), (Texts{"one", "two"}));
  indexer.remove("two/c");
  EXPECT_EQ(*indexer.index_values("namespace"), Texts{"one"});
  EXPECT_EQ(*indexer.index_keys("length", "1"), Texts{"one/a"});
  EXPECT_EQ(indexer.by_index("colour", "1").status().reason(), Reason::kNotFound);
}

TEST(ObjectKeys, AreNamespaceAndName) {
  EXPECT_EQ(object_key("ns", "n"), "ns/n");
  EXPECT_EQ(object_key("", "n"), "n");
  EXPECT_EQ(split_object_key("ns/n"), (std::pair<std::string, std::string>("ns", "n")));
  EXPECT_EQ(split_object_key("n"), (std::pair<std::string, std::string>("", "n")));
}

}  // namespace
}  // namespace backplane
