// Tests of the watch cache that must pass with every storage backend.  Include this header in one source of a test, and instantiate the
// suite with a BackendMaker:
//   INSTANTIATE_TEST_SUITE_P(Memory, CacheConformance, testing::Values(maker), maker_name);
#pragma once

#include <functional>
#include <future>

#include "base/task_group.hpp"

#include "backplane/points/storage_feed.hpp"
#include "storage/storage_test_kit.hpp"
#include "watchcache/continue_token.hpp"
#include "watchcache/resource_cache.hpp"

namespace backplane {

class CacheConformance : public testing::TestWithParam<BackendMaker> {
 protected:
  static constexpr std::string_view kPrefix = "/registry/configmaps/";

  CacheConformance() { pump.start(); }
  ~CacheConformance() override {
    stop_hub();
    pump.stop();
  }

  void start_hub() {
    hub = make_cache_hub(objects, pump);
    cache = hub->add(config(), false);
    ASSERT_TRUE(store.run(hub->start()).ok());
  }
  void stop_hub() {
    if (hub) store.run(hub->stop());
    hub.reset();
  }
  static CacheConfig config() {
    CacheConfig config;
    config.prefix = kPrefix;
    config.kind = "ConfigMap";
    config.api_version = "v1";
    config.fields = {{"data.n", "data.n", ""}};
    return config;
  }

  // Stores an object with the label l=`label` and the field data.n=`field`.
  Revision put(const std::string& name, const std::string& label, const std::string& field, const std::string& ns = "ns") {
    return store.put(key(name, ns), R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":")" + name + R"(","namespace":")" + ns +
                                        R"(","uid":"u","labels":{"l":")" + label + R"("}},"data":{"n":")" + field + R"("}})");
  }
  Revision remove(const std::string& name) { return store.remove(key(name, "ns")); }
  static std::string key(const std::string& name, const std::string& ns) { return std::string(kPrefix) + ns + "/" + name; }

  static ListOptions at(std::string version, ResourceVersionMatch match = ResourceVersionMatch::kUnset) {
    ListOptions options;
    options.resource_version = std::move(version);
    options.match = match;
    return options;
  }
  static ListOptions limited(std::int64_t limit, std::string token = {}) {
    ListOptions options;
    options.limit = limit;
    options.continue_token = std::move(token);
    return options;
  }
  static ListOptions labelled(std::string_view selector, ListOptions options = {}) {
    options.labels = LabelSelector::parse(selector).value();
    return options;
  }
  static ListOptions fielded(std::string_view selector, ListOptions options = {}) {
    options.fields = FieldSelector::parse(selector).value();
    return options;
  }

  Result<ListResult> list(ListOptions options, CacheScope scope = {"ns", ""}) {
    return store.run(cache->list(std::move(scope), std::move(options)));
  }
  // The names of the listed objects, joined by spaces; if the list fails, the message of the error.
  std::string names(ListOptions options, CacheScope scope = {"ns", ""}) {
    auto result = list(std::move(options), std::move(scope));
    return result.ok() ? names_of(*result) : result.status().message();
  }
  std::string names_of(ListResult& result) {
    std::string text;
    show(result, [&](const ObjectEntry& entry) { text.append(text.empty() ? "" : " ").append(entry.name()); });
    return text;
  }
  void show(ListResult& result, std::function<void(const ObjectEntry&)> visit) {
    const Status shown = store.run(for_each(*result.items, std::move(visit)));
    EXPECT_TRUE(shown.ok()) << shown.message();
  }

  std::unique_ptr<WatchStream> watch(ListOptions options, CacheScope scope = {"ns", ""}) {
    auto stream = store.run(cache->watch(std::move(scope), std::move(options)));
    EXPECT_TRUE(stream.ok()) << stream.status().message();
    return stream.ok() ? std::move(*stream) : nullptr;
  }
  // The next `count` events as text: "A:name" (ADDED), "M:name", "D:name" and "B" (bookmark). After an error, the text ends with its
  // message.
  std::string next(WatchStream& stream, std::size_t count) {
    std::string text;
    for (std::size_t seen = 0; seen < count;) {
      auto events = store.run(stream.next());
      if (!events.ok()) return text + (text.empty() ? "" : " ") + events.status().message();
      if (events->empty()) return text + " end";
      for (const auto& event : *events) {
        check(event);
        text += (text.empty() ? "" : " ") + std::string(1, "AMDBE"[static_cast<int>(event.type)]);
        if (event.type != WatchEvent::Type::kBookmark) text.append(":").append(event.object->name());
        last = event;
        ++seen;
      }
    }
    return text;
  }
  // Expects that the event's frame, if it has one, consists of the event's type and object.
  static void check(const WatchEvent& event) {
    if (event.object->event() != event.type) return;
    const char* const types[] = {"ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"};
    EXPECT_EQ(event.object->json_frame().view(), std::string(R"({"type":")") + types[static_cast<int>(event.type)] + R"(","object":)" +
                                                     std::string(event.object->json().view()) + "}\n");
    EXPECT_NE(event.object->json().view().find(R"("resourceVersion":")" + std::to_string(event.object->revision) + '"'), std::string::npos);
  }

  // Declared before the store, so that the loops are destroyed after it: when the test has received the awaited event, the store's writer
  // may still be in a post() to a loop.
  LoopPool loops{2};
  OpenStore store{GetParam()};
  ObjectStorage objects{*store};
  IoLoop pump{"pump"};
  std::unique_ptr<CacheHub> hub;
  std::shared_ptr<ResourceCache> cache;
  WatchEvent last;
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CacheConformance);

// ---- loading and GET

TEST_P(CacheConformance, NothingIsLoadedBeforeTheFirstUse) {
  put("a", "1", "1");
  start_hub();
  EXPECT_FALSE(cache->ready());
  EXPECT_EQ(cache->size(), 0u);
  EXPECT_EQ(names({}), "a");
  EXPECT_TRUE(cache->ready());
  EXPECT_EQ(cache->size(), 1u);
  EXPECT_GT(cache->bytes(), 50u);
}

TEST_P(CacheConformance, AnEagerCacheLoadsWhenTheHubStarts) {
  put("a", "1", "1");
  hub = make_cache_hub(objects, pump);
  cache = hub->add(config(), true);
  EXPECT_EQ(hub->add(config(), false), cache);
  EXPECT_EQ(list({}).status().code(), 429);
  ASSERT_TRUE(store.run(hub->start()).ok());
  EXPECT_EQ(names({}), "a");
}

TEST_P(CacheConformance, AReadWithoutAVersionSeesEveryWriteAcknowledgedBefore) {
  start_hub();
  for (int i = 0; i < 200; ++i) {
    const Revision revision = put("a", "1", std::to_string(i));
    const auto found = store.run(cache->get(key("a", "ns"), ""));
    ASSERT_TRUE(found.ok());
    ASSERT_NE(*found, nullptr);
    EXPECT_EQ((*found)->revision, revision);
    EXPECT_EQ((*found)->fields().at(0), std::to_string(i));
  }
  remove("a");
  EXPECT_EQ(store.run(cache->get(key("a", "ns"), "")).value(), nullptr);
  EXPECT_EQ(cache->bytes(), 0u);
}

TEST_P(CacheConformance, AnInvalidVersionIsABadRequestIfTheStoreConfirmsReads) {
  hub = make_cache_hub(objects, pump);
  auto confirmed = config();
  confirmed.confirmed = true;
  cache = hub->add(std::move(confirmed), false);
  ASSERT_TRUE(store.run(hub->start()).ok());
  const auto bad = store.run(cache->get(key("a", "ns"), "bad"));
  EXPECT_EQ(bad.status().code(), 400);
  EXPECT_TRUE(bad.status().message().starts_with("invalid resource version: resourceVersion: Invalid value: \"bad\""))
      << bad.status().message();
}

TEST_P(CacheConformance, GetTakesAVersionThatMustBeReached) {
  start_hub();
  const Revision revision = put("a", "1", "1");
  EXPECT_EQ(store.run(cache->get(key("a", "ns"), std::to_string(revision))).value()->revision, revision);
  EXPECT_EQ(store.run(cache->get(key("a", "ns"), "0")).value()->revision, revision);
  const auto bad = store.run(cache->get(key("a", "ns"), "bad"));
  EXPECT_EQ(bad.status().code(), 500);
  EXPECT_EQ(bad.status().reason(), Reason::kNone);
  EXPECT_EQ(bad.status().message(), R"(resourceVersion: Invalid value: "bad": strconv.ParseUint: parsing "bad": invalid syntax)");
}

TEST_P(CacheConformance, AVersionThatIsNeverReachedIsTooLarge) {
  start_hub();
  put("a", "1", "1");
  const auto far = list(at("999999999"));
  EXPECT_EQ(far.status().code(), 504);
  EXPECT_NE(far.status().message().find("Too large resource version: 999999999, current: "), std::string::npos);
  ASSERT_NE(far.status().details(), nullptr);
  EXPECT_EQ(far.status().details()->causes.at(0).reason, "ResourceVersionTooLarge");
}

// ---- LIST

TEST_P(CacheConformance, AListIsInOrderAndKeepsToItsNamespace) {
  start_hub();
  put("b", "1", "1");
  put("a", "1", "1");
  put("z", "1", "1", "ns2");
  put("c", "1", "1", "another");
  EXPECT_EQ(names({}), "a b");
  EXPECT_EQ(names({}, {}), "c a b z");
  EXPECT_EQ(names({}, {"ns", "b"}), "b");
  EXPECT_EQ(names({}, {"none", ""}), "");
}

TEST_P(CacheConformance, SelectorsChooseByLabelsAndDeclaredFields) {
  start_hub();
  for (int i = 0; i < 6; ++i) put("c" + std::to_string(i), std::to_string(i % 2), std::to_string(i));
  EXPECT_EQ(names(labelled("l=1")), "c1 c3 c5");
  EXPECT_EQ(names(labelled("l!=1")), "c0 c2 c4");
  EXPECT_EQ(names(fielded("metadata.name=c3")), "c3");
  EXPECT_EQ(names(fielded("metadata.name!=c3")), "c0 c1 c2 c4 c5");
  EXPECT_EQ(names(fielded("data.n=4")), "c4");
  EXPECT_EQ(names(fielded("metadata.namespace=ns,metadata.name=c2")), "c2");
  EXPECT_EQ(names(fielded("metadata.namespace=ns"), {}), "c0 c1 c2 c3 c4 c5");
  EXPECT_EQ(names(fielded("metadata.name=c2"), {}), "c2");
  EXPECT_EQ(names(labelled("l=1", fielded("data.n=3"))), "c3");
  EXPECT_EQ(list(fielded("spec.x=1")).status().reason(), Reason::kBadRequest);
}

TEST_P(CacheConformance, PagesShowOneRevisionWhateverIsWrittenMeanwhile) {
  start_hub();
  for (int i = 0; i < 5; ++i) put("c" + std::to_string(i), "1", "1");
  auto first = list(limited(2));
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(names_of(*first), "c0 c1");
  EXPECT_EQ(first->remaining, 3);
  put("c25", "1", "1");
  remove("c3");
  auto second = list(limited(2, first->continue_token));
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(names_of(*second), "c2 c3");
  EXPECT_EQ(second->remaining, 1);
  EXPECT_EQ(second->revision, first->revision);
  auto third = list(limited(2, second->continue_token));
  EXPECT_EQ(names_of(*third), "c4");
  EXPECT_TRUE(third->continue_token.empty());
  EXPECT_FALSE(third->remaining.has_value());
  EXPECT_EQ(names({}), "c0 c1 c2 c25 c4");
}

TEST_P(CacheConformance, PagesWithASelectorHaveNoCountOfWhatRemains) {
  start_hub();
  for (int i = 0; i < 6; ++i) put("c" + std::to_string(i), std::to_string(i % 2), "1");
  auto page = list(labelled("l=1", limited(1)));
  EXPECT_EQ(names_of(*page), "c1");
  EXPECT_FALSE(page->remaining.has_value());
  page = list(labelled("l=1", limited(5, page->continue_token)));
  EXPECT_EQ(names_of(*page), "c3 c5");
  EXPECT_TRUE(page->continue_token.empty());
}

TEST_P(CacheConformance, VersionZeroGivesEverythingWhateverTheLimit) {
  start_hub();
  for (int i = 0; i < 4; ++i) put("c" + std::to_string(i), "1", "1");
  EXPECT_EQ(names({}), "c0 c1 c2 c3");
  auto options = at("0");
  options.limit = 2;
  auto all = list(options);
  EXPECT_EQ(names_of(*all), "c0 c1 c2 c3");
  EXPECT_TRUE(all->continue_token.empty());
}

TEST_P(CacheConformance, AnExactVersionShowsThePast) {
  start_hub();
  put("c0", "1", "1");
  const Revision then = put("c1", "1", "1");
  EXPECT_EQ(names({}), "c0 c1");
  put("c1", "2", "1");
  remove("c0");
  put("c2", "1", "1");
  const auto exact = at(std::to_string(then), ResourceVersionMatch::kExact);
  auto past = list(exact);
  ASSERT_TRUE(past.ok());
  EXPECT_EQ(past->revision, then);
  EXPECT_EQ(names_of(*past), "c0 c1");
  EXPECT_EQ(names(labelled("l=1", exact)), "c0 c1");
  auto paged = exact;
  paged.limit = 1;
  past = list(paged);
  EXPECT_EQ(names_of(*past), "c0");
  EXPECT_EQ(past->remaining, 1);
  EXPECT_EQ(names(limited(1, past->continue_token)), "c1");
  // A limit and a resourceVersion without resourceVersionMatch have the same effect as Exact.
  auto legacy = at(std::to_string(then));
  legacy.limit = 5;
  EXPECT_EQ(names(legacy), "c0 c1");
  // "Not older than" may show any later state: a fresh read first makes the cache reach the last write.
  EXPECT_EQ(names({}), "c1 c2");
  EXPECT_EQ(names(at(std::to_string(then), ResourceVersionMatch::kNotOlderThan)), "c1 c2");
  EXPECT_EQ(names(at(std::to_string(then))), "c1 c2");
}

// Regression: pages of a large store were read after the client had disconnected.
TEST_P(CacheConformance, AListOfAnOldRevisionStopsIfTheClientDisconnects) {
  start_hub();
  const Revision then = put("c0", "1", "1");
  put("c1", "1", "1");
  EXPECT_EQ(names({}), "c0 c1");
  stop_hub();
  start_hub();  // the cache has no history, so the store is read
  const auto gone = std::make_shared<std::atomic<bool>>(false);
  const CacheScope scope{"ns", "", gone};
  auto exact = at(std::to_string(then), ResourceVersionMatch::kExact);
  auto past = list(exact, scope);
  ASSERT_TRUE(past.ok());
  EXPECT_EQ(names_of(*past), "c0");
  past = list(exact, scope);
  ASSERT_TRUE(past.ok());
  gone->store(true);
  EXPECT_EQ(store.run(for_each(*past->items, [](const ObjectEntry&) {})).reason(), Reason::kTimeout);
  exact.limit = 1;
  EXPECT_EQ(list(exact, scope).status().reason(), Reason::kTimeout);
}

TEST_P(CacheConformance, ACompactedVersionHasExpired) {
  start_hub();
  put("c0", "1", "1");
  put("c1", "1", "1");
  EXPECT_EQ(names({}), "c0 c1");
  put("c2", "1", "1");
  ASSERT_TRUE(store.run(store->compact(store.newest())).ok());
  const auto gone = list(at("2", ResourceVersionMatch::kExact));
  EXPECT_EQ(gone.status().code(), 410);
  EXPECT_EQ(gone.status().reason(), Reason::kExpired);
  EXPECT_EQ(gone.status().message(), "The resourceVersion for the provided list is too old.");
  const auto token = encode_continue(key("c1", "ns"), std::string(kPrefix) + "ns/", 2);
  const auto page = list(limited(5, token));
  EXPECT_EQ(page.status().code(), 410);
  EXPECT_EQ(page.status().message().find("The provided continue parameter is too old to display a consistent list result."), 0u);
  ASSERT_FALSE(page.status().continue_token().empty());
  EXPECT_EQ(names(limited(5, page.status().continue_token())), "c1 c2");
}

// Regression: such a list did not expire as long as no object of the kind changed.
TEST_P(CacheConformance, AContinuedListOfACompactedRevisionExpiresEvenIfItIsCached) {
  const auto compacted = std::make_shared<std::atomic<Revision>>(0);
  CacheOptions options;
  options.compacted = compacted;
  hub = make_cache_hub(objects, pump, options);
  cache = hub->add(config(), false);
  ASSERT_TRUE(store.run(hub->start()).ok());
  put("c0", "1", "1");
  const Revision then = put("c1", "1", "1");
  store.put("/elsewhere", "1");
  const auto token = encode_continue(key("c1", "ns"), std::string(kPrefix) + "ns/", then);
  EXPECT_EQ(names(limited(5, token)), "c1");
  ASSERT_TRUE(store.run(store->compact(store.newest())).ok());
  compacted->store(store.newest());
  const auto page = list(limited(5, token));
  EXPECT_EQ(page.status().code(), 410);
  ASSERT_FALSE(page.status().continue_token().empty());
  EXPECT_EQ(names(limited(5, page.status().continue_token())), "c1");
  EXPECT_EQ(list(at(std::to_string(then), ResourceVersionMatch::kExact)).status().code(), 410);
  EXPECT_EQ(names(at(std::to_string(then), ResourceVersionMatch::kNotOlderThan)), "c0 c1");
}

TEST_P(CacheConformance, BadListParametersAreBadRequests) {
  start_hub();
  put("a", "1", "1");
  auto both = limited(1, encode_continue(key("a", "ns"), std::string(kPrefix) + "ns/", 2));
  both.resource_version = "2";
  EXPECT_EQ(names(both), "specifying resource version is not allowed when using continue");
  EXPECT_EQ(list(limited(1, "x!")).status().reason(), Reason::kBadRequest);
  EXPECT_EQ(list(at("bad")).status().reason(), Reason::kBadRequest);
}

TEST_P(CacheConformance, ThousandsOfObjectsAreListedWholeInPages) {
  constexpr int kObjects = 6000;  // more than one chunk of loading
  for (int i = 0; i < kObjects; i += 100) {
    TxnRequest request;
    for (int j = i; j < i + 100; ++j) {
      const std::string name = std::to_string(100'000 + j);
      request.puts.push_back({key(name, "ns"), SharedBytes(R"({"metadata":{"name":")" + name + "\"}}"), 0});
    }
    store.commit(std::move(request));
  }
  start_hub();
  std::string token;
  int seen = 0;
  do {
    auto page = list(limited(700, token));
    ASSERT_TRUE(page.ok());
    token = page->continue_token;
    show(*page, [&](const ObjectEntry& entry) { EXPECT_EQ(entry.name(), std::to_string(100'000 + seen++)); });
    EXPECT_EQ(page->remaining.value_or(0), kObjects - seen);
  } while (!token.empty());
  EXPECT_EQ(seen, kObjects);
}

// ---- WATCH

TEST_P(CacheConformance, AWatchFromAVersionSeesWhatCameAfter) {
  start_hub();
  const Revision start = put("c0", "1", "1");
  EXPECT_EQ(names({}), "c0");
  put("c1", "1", "1");
  put("c1", "1", "2");
  const Revision deleted = remove("c1");
  auto stream = watch(at(std::to_string(start)));
  EXPECT_EQ(next(*stream, 3), "A:c1 M:c1 D:c1");
  EXPECT_EQ(last.object->revision, deleted);
  EXPECT_EQ(last.object->fields().at(0), "2");
  put("c2", "1", "1");
  EXPECT_EQ(next(*stream, 1), "A:c2");
}

TEST_P(CacheConformance, AWatchWithoutAVersionBeginsWithTheObjects) {
  start_hub();
  put("c0", "1", "1");
  put("c1", "1", "1");
  put("x", "1", "1", "other");
  put("c1", "1", "2");
  for (const char* version : {"", "0"}) {
    EXPECT_EQ(names({}), "c0 c1");
    auto stream = watch(at(version));
    EXPECT_EQ(next(*stream, 2), "A:c0 A:c1");
    const Revision revision = put("c0", "1", "3");
    EXPECT_EQ(next(*stream, 1), "M:c0");
    EXPECT_EQ(last.object->revision, revision);
  }
}

TEST_P(CacheConformance, AWatchResumesFromBeforeTheCacheWasLoaded) {
  put("c0", "1", "1");  // 2
  put("c1", "1", "1");  // 3
  put("c0", "2", "1");  // 4
  remove("c1");         // 5
  start_hub();
  auto stream = watch(at("2"));
  EXPECT_EQ(next(*stream, 3), "A:c1 M:c0 D:c1");
  put("c2", "1", "1");
  EXPECT_EQ(next(*stream, 1), "A:c2");
  auto selected = watch(labelled("l=1", at("1")));
  EXPECT_EQ(next(*selected, 5), "A:c0 A:c1 D:c0 D:c1 A:c2");
}

TEST_P(CacheConformance, AWatchFromACompactedVersionGetsAnErrorEvent) {
  for (int i = 0; i < 5; ++i) put("c" + std::to_string(i), "1", "1");
  ASSERT_TRUE(store.run(store->compact(6)).ok());
  start_hub();
  auto stream = watch(at("2"));
  auto events = store.run(stream->next());
  EXPECT_EQ(events.status().code(), 410);
  EXPECT_EQ(events.status().reason(), Reason::kExpired);
  // The number in parentheses depends on the store: it is the first revision of the cache, and some stores write to determine their
  // revision.
  EXPECT_TRUE(events.status().message().starts_with("too old resource version: 2 (")) << events.status().message();
  EXPECT_TRUE(store.run(stream->next()).value().empty());
}

TEST_P(CacheConformance, AWatchFromTheFutureIsSilentUntilThen) {
  start_hub();
  EXPECT_EQ(names({}), "");
  auto stream = watch(at("4"));
  for (const char* name : {"c2", "c3", "c4", "c5"}) put(name, "1", "1");  // 2 … 5
  EXPECT_EQ(next(*stream, 1), "A:c5");
}

TEST_P(CacheConformance, WhatEntersOrLeavesASelectionIsAddedOrDeleted) {
  start_hub();
  EXPECT_EQ(names({}), "");
  auto stream = watch(labelled("l=1", at("1")));
  put("a", "0", "1");
  put("a", "1", "1");
  put("a", "1", "2");
  const Revision left = put("a", "0", "3");
  EXPECT_EQ(next(*stream, 3), "A:a M:a D:a");
  EXPECT_EQ(last.object->revision, left);
  EXPECT_EQ(last.object->fields().at(0), "2");  // the object before its deletion
  put("a", "1", "4");
  remove("a");
  EXPECT_EQ(next(*stream, 2), "A:a D:a");
}

TEST_P(CacheConformance, AScopedWatchGetsNoOtherEvents) {
  start_hub();
  EXPECT_EQ(names({}), "");
  auto one = watch(at("1"), {"ns", "b"});
  auto other = watch(at("1"), {"other", ""});
  auto field = watch(fielded("metadata.name=b", at("1")));
  put("a", "1", "1");
  put("b", "1", "1");
  put("bb", "1", "1");
  put("b", "1", "1", "other");
  EXPECT_EQ(next(*one, 1), "A:b");
  EXPECT_EQ(next(*field, 1), "A:b");
  EXPECT_EQ(next(*other, 1), "A:b");
  EXPECT_EQ(last.object->ns(), "other");
}

TEST_P(CacheConformance, InitialEventsEndWithABookmark) {
  start_hub();
  for (int i = 0; i < 600; ++i) put("c" + std::to_string(1000 + i), "1", "1");
  ListOptions options;
  options.send_initial_events = true;
  options.match = ResourceVersionMatch::kNotOlderThan;
  options.allow_watch_bookmarks = true;
  auto stream = watch(options);
  const std::string text = next(*stream, 601);
  EXPECT_EQ(text.substr(0, 7), "A:c1000");
  EXPECT_EQ(text.substr(text.size() - 9), "A:c1599 B");
  EXPECT_EQ(last.object->json().view(), R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"resourceVersion":")" +
                                            std::to_string(store.newest()) + R"(","annotations":{"k8s.io/initial-events-end":"true"}}})");
  put("d", "1", "1");
  EXPECT_EQ(next(*stream, 1), "A:d");
}

TEST_P(CacheConformance, ObjectsOfATransientReadEndWithTheReadersReferences) {
  for (int i = 0; i < 320; ++i) put("c" + std::to_string(1000 + i), "1", "1");
  start_hub();
  const auto ended = [this](bool transient) {
    ListOptions options;
    options.send_initial_events = true;
    options.match = ResourceVersionMatch::kNotOlderThan;
    options.allow_watch_bookmarks = true;
    options.transient_objects = transient;
    auto stream = watch(options);
    std::vector<std::weak_ptr<const ObjectEntry>> seen;
    for (bool whole = false; !whole;) {
      auto events = store.run(stream->next());
      if (!events.ok() || events->empty()) break;
      for (const WatchEvent& event : *events) {
        check(event);
        whole = whole || event.type == WatchEvent::Type::kBookmark;
        if (event.type == WatchEvent::Type::kAdded) seen.emplace_back(event.object);
      }
    }
    EXPECT_EQ(seen.size(), 320u);
    return std::count_if(seen.begin(), seen.end(), [](const auto& each) { return each.expired(); });
  };
  EXPECT_EQ(ended(true), 310) << "all but the first of each run";
  EXPECT_EQ(ended(true), 310);
  EXPECT_EQ(ended(false), 0);
  EXPECT_EQ(ended(true), 0) << "the cache holds the entries that a reader has built";
}

TEST_P(CacheConformance, ATransientListIsLikeOthers) {
  for (int i = 0; i < 200; ++i) put("c" + std::to_string(1000 + i), std::to_string(i % 3), std::to_string(i % 7));
  start_hub();
  const std::vector<ListOptions> all{
      {}, limited(10), limited(200), labelled("l=1"), labelled("l=1", limited(40)), fielded("data.n=3"), fielded("data.n=9")};
  std::vector<std::string> transient, kept;
  for (ListOptions options : all) {
    options.transient_objects = true;
    transient.push_back(names(options));
  }
  for (const ListOptions& options : all) kept.push_back(names(options));
  EXPECT_EQ(transient, kept);
}

TEST_P(CacheConformance, InitialEventsCanBeDeclined) {
  start_hub();
  put("c0", "1", "1");
  ListOptions options;
  options.send_initial_events = false;
  options.match = ResourceVersionMatch::kNotOlderThan;
  auto stream = watch(options);
  put("c1", "1", "1");
  EXPECT_EQ(next(*stream, 1), "A:c1");
}

TEST_P(CacheConformance, ABookmarkComesShortlyBeforeTheDeadline) {
  start_hub();
  put("c0", "1", "1");
  EXPECT_EQ(names({}), "c0");
  auto options = at(std::to_string(store.newest()));
  options.allow_watch_bookmarks = true;
  options.timeout_seconds = 3;
  auto stream = watch(options);
  const Revision other_revision = store.put("/registry/other/x", "{}");
  EXPECT_EQ(next(*stream, 1), "B");
  EXPECT_EQ(last.object->revision, other_revision);
}

namespace conformance {
inline Task<void> wait_for_end(WatchStream& stream, std::promise<bool>& ended) {
  auto waiting = stream.next();
  auto events = co_await std::move(waiting);
  ended.set_value(events.ok() && events->empty());
}
inline Task<void> collect(WatchStream& stream, std::size_t count, std::vector<Revision>& revisions) {
  while (revisions.size() < count) {
    auto waiting = stream.next();
    auto events = co_await std::move(waiting);
    EXPECT_TRUE(events.ok() && !events->empty());
    if (!events.ok() || events->empty()) co_return;
    for (const auto& event : *events) revisions.push_back(event.object->revision);
  }
}
inline Task<void> churn(StorageBackend& storage, int writer, int writes) {
  for (int i = 0; i < writes; ++i) {
    TxnRequest request;
    const std::string name = "w" + std::to_string(writer) + "-" + std::to_string(i % 20);
    request.puts.push_back({"/registry/configmaps/ns/" + name, SharedBytes(R"({"metadata":{"name":")" + name + "\"}}"), 0});
    auto writing = storage.txn(std::move(request));
    auto result = co_await std::move(writing);
    EXPECT_TRUE(result.ok());
  }
}
// Lists repeatedly. Expects that lists never become shorter, and that their revisions never decrease.
inline Task<void> keep_listing(ResourceCache& cache, std::atomic<bool>& stop) {
  std::size_t most = 0;
  Revision newest = 0;
  while (!stop.load()) {
    CacheScope scope;
    ListOptions options;
    auto listing = cache.list(scope, options);
    auto result = co_await std::move(listing);
    EXPECT_TRUE(result.ok());
    if (!result.ok()) co_return;
    EXPECT_GE(result->revision, newest);
    newest = result->revision;
    std::size_t count = 0;
    for (;;) {
      auto reading = result->items->next();
      auto batch = co_await std::move(reading);
      EXPECT_TRUE(batch.ok());
      if (!batch.ok() || batch->empty()) break;
      for (const ObjectEntry* entry : *batch) EXPECT_LE(entry->revision, result->revision);
      count += batch->size();
    }
    EXPECT_GE(count, most);
    most = count;
    // Yields to other work of this loop.
    auto turn = sleep_for(std::chrono::nanoseconds(1));
    co_await std::move(turn);
  }
}
}  // namespace conformance

TEST_P(CacheConformance, CancellingOrStoppingEndsAWatch) {
  start_hub();
  EXPECT_EQ(names({}), "");
  auto cancelled = watch(at("1"));
  std::promise<bool> first;
  spawn_detached(store.loop(), conformance::wait_for_end(*cancelled, first));
  cancelled->cancel();
  EXPECT_TRUE(first.get_future().get());
  EXPECT_TRUE(store.run(cancelled->next()).value().empty());

  auto stopped = watch(at("1"));
  std::promise<bool> second;
  spawn_detached(store.loop(), conformance::wait_for_end(*stopped, second));
  store.run(hub->stop());
  EXPECT_TRUE(second.get_future().get());
  EXPECT_FALSE(list({}).ok());
  hub.reset();
}

TEST_P(CacheConformance, RemovingACacheEndsItsOwnWatchesOnly) {
  start_hub();
  auto other_config = config();
  other_config.prefix = "/registry/configmaps2/";
  auto other = hub->add(other_config, true);
  EXPECT_EQ(names({}), "");
  auto stream = watch(at("1"));
  hub->remove(kPrefix);
  EXPECT_TRUE(store.run(stream->next()).value().empty());
  EXPECT_EQ(list({}).status().reason(), Reason::kServiceUnavailable);
  store.put("/registry/configmaps2/ns/a", R"({"metadata":{}})");
  EXPECT_NE(store.run(other->get("/registry/configmaps2/ns/a", "")).value(), nullptr);
}

TEST_P(CacheConformance, ManyWritersWatchersAndListersAgree) {
  start_hub();
  EXPECT_EQ(names({}), "");
  constexpr int kWriters = 8;
  constexpr int kWrites = 150;
  loops.start();
  std::vector<std::unique_ptr<WatchStream>> streams;
  std::vector<std::vector<Revision>> seen(20);
  LoggedTaskGroup tasks;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    streams.push_back(watch(at("1"), {}));
    tasks.spawn(loops.loop(i), "watcher", conformance::collect(*streams[i], kWriters * kWrites, seen[i]));
  }
  std::atomic<bool> stop{false};
  LoggedTaskGroup listers;
  for (std::size_t i = 0; i < 2; ++i) listers.spawn(loops.loop(i), "lister", conformance::keep_listing(*cache, stop));
  for (int i = 0; i < kWriters; ++i) {
    tasks.spawn(loops.loop(static_cast<std::size_t>(i)), "writer", conformance::churn(*store, i, kWrites));
  }
  tasks.close();
  store.run(tasks.wait_all());
  stop.store(true);
  listers.close();
  store.run(listers.wait_all());
  // No watcher has received a revision twice, and all watchers have received the same revisions.  The last revision is known only if the
  // store does not write in order to determine its progress.
  for (const auto& revisions : seen) {
    ASSERT_EQ(revisions.size(), static_cast<std::size_t>(kWriters * kWrites));
    EXPECT_TRUE(std::is_sorted(revisions.begin(), revisions.end(), std::less_equal<>()));
    EXPECT_EQ(revisions, seen.front());
  }
  if (store->progress_is_immediate()) {
    EXPECT_EQ(seen.front().back(), kWriters * kWrites + 1);
  }
  loops.stop();
}

}  // namespace backplane
