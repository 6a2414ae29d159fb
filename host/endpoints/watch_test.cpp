// Tests of watches: frames, shapes of objects, options, and the reasons for their end.
#include <future>
#include <thread>

#include "base/signal.hpp"
#include "endpoints/open_watches.hpp"
#include "endpoints/testing/harness.hpp"
#include "engine/codec.hpp"

namespace backplane::testing {
namespace {

class WatchTest : public Api {
 protected:
  ScriptedStream& script() {
    store_->stream = std::make_unique<ScriptedStream>();
    return *store_->stream;
  }
  static WatchEvent event(WatchEvent::Type type, std::string_view json, bool framed = true) {
    WatchEvent out;
    out.type = type;
    out.object = make_object(json::parse(json::string_view(json.data(), json.size())).get_object());
    if (framed) {
      const std::string head(json_frame_head(type)), json(out.object->json().view());
      auto entry = std::make_shared<ObjectEntry>(*out.object);
      entry->set_json_in_frame(SharedBytes(head + json + "}\n"), head.size(), json.size(), entry->item_offset(), type);
      out.object = std::move(entry);
    }
    return out;
  }
  static std::vector<WatchEvent> batch(std::initializer_list<WatchEvent> events) { return std::vector<WatchEvent>(events); }
};

constexpr std::string_view kMapsPath = "namespaces/n/configmaps";
std::string watch_path(std::string_view query = "") { return std::string(kMapsPath).append("?watch=true").append(query); }

TEST_F(WatchTest, TheEventsOfOneBatchGoOutInOneWrite) {
  use_config_maps();
  auto& stream = script();
  stream.batches.push_back(batch({event(WatchEvent::Type::kAdded, kStoredMap), event(WatchEvent::Type::kModified, kStoredMap)}));
  stream.batches.push_back(batch({event(WatchEvent::Type::kDeleted, kStoredMap)}));
  const Response got = send("GET", watch_path());
  EXPECT_EQ(got.code(), 200);
  EXPECT_EQ(got.type(), "application/json");
  EXPECT_TRUE(got.exchange->streamed);
  EXPECT_FALSE(got.exchange->compressible);
  EXPECT_TRUE(got.exchange->finished);
  ASSERT_EQ(got.exchange->writes.size(), 2u);
  const std::string object(kStoredMap);
  EXPECT_EQ(got.exchange->writes[0], "{\"type\":\"ADDED\",\"object\":" + object + "}\n{\"type\":\"MODIFIED\",\"object\":" + object + "}\n");
  EXPECT_EQ(got.exchange->writes[1], "{\"type\":\"DELETED\",\"object\":" + object + "}\n");
}

TEST_F(WatchTest, AnEventWithoutAFrameIsFramedHere) {
  use_config_maps();
  script().batches.push_back(batch({event(WatchEvent::Type::kDeleted, kStoredMap, false)}));
  EXPECT_EQ(send("GET", watch_path()).body(), "{\"type\":\"DELETED\",\"object\":" + std::string(kStoredMap) + "}\n");
}

TEST_F(WatchTest, TablesHaveColumnsInTheirFirstEventOnly) {
  use_config_maps();
  auto& stream = script();
  stream.batches.push_back(batch({event(WatchEvent::Type::kAdded, kStoredMap), event(WatchEvent::Type::kModified, kStoredMap)}));
  const Response got = send("GET", watch_path(), "", {{"Accept", "application/json;as=Table;v=v1;g=meta.k8s.io"}});
  const auto line_end = got.body().find('\n');
  const Value first = json::parse(got.body().substr(0, line_end));
  const Value second = json::parse(got.body().substr(line_end + 1, got.body().size() - line_end - 2));
  EXPECT_EQ(first.at("type").get_string(), "ADDED");
  EXPECT_EQ(first.at("object").at("kind").get_string(), "Table");
  EXPECT_TRUE(first.at("object").at("columnDefinitions").is_array());
  EXPECT_TRUE(second.at("object").at("columnDefinitions").is_null());
  EXPECT_EQ(second.at("object").at("rows").at(0).at("object").at("kind").get_string(), "PartialObjectMetadata");
}

TEST_F(WatchTest, MetadataOnlyWatchesCarryMetadataOnly) {
  use_config_maps();
  script().batches.push_back(batch({event(WatchEvent::Type::kAdded, kStoredMap)}));
  const Response got = send("GET", watch_path(), "", {{"Accept", "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"}});
  EXPECT_TRUE(got.body().starts_with(
      R"({"type":"ADDED","object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"a")"));
  EXPECT_TRUE(got.body().ends_with("}}}\n"));
}

TEST_F(WatchTest, ManyTablesAreWrittenInBoundedPieces) {
  use_config_maps();
  std::vector<WatchEvent> events;
  for (int i = 0; i < 2000; ++i) events.push_back(event(WatchEvent::Type::kAdded, kStoredMap));
  script().batches.push_back(std::move(events));
  const Response got = send("GET", watch_path(), "", {{"Accept", "application/json;as=Table;v=v1;g=meta.k8s.io"}});
  EXPECT_GT(got.exchange->writes.size(), 2u);
  for (const std::string& text : got.exchange->writes) EXPECT_LT(text.size(), 140u * 1024);
}

TEST_F(WatchTest, AFailureOfTheStreamIsItsLastEvent) {
  use_config_maps();
  auto& stream = script();
  stream.batches.push_back(batch({event(WatchEvent::Type::kAdded, kStoredMap)}));
  stream.batches.push_back(expired("too old resource version: 1 (5)"));
  const Response got = send("GET", watch_path());
  EXPECT_EQ(got.code(), 200);
  EXPECT_TRUE(got.body().ends_with(
      "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\","
      "\"message\":\"too old resource version: 1 (5)\",\"reason\":\"Expired\",\"code\":410}}\n"));
  EXPECT_TRUE(got.exchange->finished);
}

TEST_F(WatchTest, AnExpiredVersionIsReportedInTheStream) {
  use_config_maps();
  store_->watch_error = expired("too old resource version: 1 (5)");
  const Response got = send("GET", watch_path("&resourceVersion=1"));
  EXPECT_EQ(got.code(), 200);
  EXPECT_TRUE(got.body().starts_with("{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\""));
}

TEST_F(WatchTest, OtherErrorsAreTheAnswer) {
  use_config_maps();
  store_->watch_error =
      Status(500, Reason::kNone, "resourceVersion: Invalid value: \"bad\": strconv.ParseUint: parsing \"bad\": invalid syntax");
  const Response got = send("GET", watch_path("&resourceVersion=bad"));
  EXPECT_EQ(got.code(), 500);
  EXPECT_EQ(message_of(got), "resourceVersion: Invalid value: \"bad\": strconv.ParseUint: parsing \"bad\": invalid syntax");
}

TEST_F(WatchTest, YamlHasNoStreamForm) {
  use_config_maps();
  const Response got = send("GET", watch_path(), "", {{"Accept", "application/yaml"}});
  EXPECT_EQ(got.code(), 406);
  EXPECT_EQ(got.type(), "application/yaml");
  EXPECT_EQ(
      got.body(),
      "apiVersion: v1\ncode: 406\nkind: Status\nmessage: 'only the following media types are accepted: application/json;stream=watch,\n"
      "  application/vnd.kubernetes.protobuf;stream=watch'\nmetadata: {}\nreason: NotAcceptable\nstatus: Failure\n");
}

struct WatchRule {
  std::string query;
  std::string message;
};
TEST_F(WatchTest, WatchOptionsThatMayNotStandTogetherAreRefused) {
  use_config_maps();
  const std::string invalid = "ListOptions.meta.k8s.io \"\" is invalid: ";
  const std::vector<WatchRule> rules = {
      {"&sendInitialEvents=true",
       invalid + "resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"},
      {"&sendInitialEvents=true&resourceVersionMatch=Exact",
       invalid + "[resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan, "
                 "resourceVersionMatch: Unsupported value: \"Exact\": supported values: \"NotOlderThan\"]"},
      {"&resourceVersionMatch=NotOlderThan",
       invalid + "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"},
      {"&continue=x", invalid + "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided"},
  };
  for (const WatchRule& rule : rules) {
    const Response got = send("GET", watch_path(rule.query));
    EXPECT_EQ(got.code(), 422) << rule.query;
    EXPECT_EQ(message_of(got), rule.message) << rule.query;
  }
}

TEST_F(WatchTest, AWatchFromNowBeginsWithTheObjectsThatExist) {
  use_config_maps();
  script();
  send("GET", watch_path("&allowWatchBookmarks=true"));
  EXPECT_EQ(store_->list_options.send_initial_events, true);
  EXPECT_EQ(store_->list_options.match, ResourceVersionMatch::kNotOlderThan);
  EXPECT_TRUE(store_->list_options.allow_watch_bookmarks);
  script();
  send("GET", watch_path("&resourceVersion=5"));
  EXPECT_FALSE(store_->list_options.send_initial_events.has_value());
}

TEST_F(WatchTest, TheOldPathsUnderWatchWork) {
  use_config_maps();
  script().batches.push_back(batch({event(WatchEvent::Type::kAdded, kStoredMap)}));
  EXPECT_EQ(send("GET", "watch/namespaces/n/configmaps?resourceVersion=3").code(), 200);
  EXPECT_TRUE(store_->list_options.watch);
  script();
  EXPECT_EQ(send("GET", "watch/namespaces/n/configmaps/a?resourceVersion=3").code(), 200);
  EXPECT_EQ(store_->list_options.fields.to_string(), "metadata.name=a");
  const Response other = send("GET", "watch/namespaces/n/configmaps/a?fieldSelector=metadata.name%3Db");
  EXPECT_EQ(other.code(), 400);
  EXPECT_EQ(message_of(other), "fieldSelector metadata.name doesn't match requested name");
}

TEST_F(WatchTest, TheTimeoutEndsTheWatchCleanly) {
  use_config_maps();
  auto& stream = script();
  stream.waits = true;
  auto cancels = stream.cancels;
  const Response got = send("GET", watch_path("&timeoutSeconds=1"));
  EXPECT_EQ(got.code(), 200);
  EXPECT_EQ(got.body(), "");
  EXPECT_TRUE(got.exchange->finished);
  EXPECT_EQ(*cancels, 1);
  EXPECT_TRUE(got.exchange->close_callbacks.empty()) << "nothing is left behind at the exchange";
}

TEST_F(WatchTest, ADisconnectedPeerEndsTheWatch) {
  use_config_maps();
  auto& stream = script();
  stream.waits = true;
  FakeExchange exchange("GET", "/api/v1/" + watch_path(), {}, "");
  std::thread watcher([&] { send(exchange, watch_path()); });
  // The callback is registered after the watch has been opened.
  for (bool done = false; !done;) {
    std::promise<bool> asked;
    loop_.post([&] {
      const bool open = !exchange.close_callbacks.empty();
      if (open) exchange.close_callbacks.run();
      asked.set_value(open);
    });
    done = asked.get_future().get();
  }
  watcher.join();
  EXPECT_TRUE(exchange.finished);
}

TEST_F(WatchTest, AWatchThatBeginsWhileTheServerDrainsEndsAtOnce) {
  use_config_maps();
  NamedSignal draining("ShutdownInitiated");
  scope_.shutting_down = &draining;
  handler_ = make_resource_handler(scope_);
  draining.fire();
  script().waits = true;
  EXPECT_TRUE(send("GET", watch_path()).exchange->finished);
}

TEST_F(WatchTest, ADrainingServerEndsTheWatchesOfAllHandlers) {
  use_config_maps();
  NamedSignal draining("ShutdownInitiated");
  auto watches = std::make_shared<OpenWatches>();
  watches->end_all_on(draining);
  scope_.watches = watches;
  handler_ = make_resource_handler(scope_);
  script().waits = true;
  FakeExchange exchange("GET", "/api/v1/" + watch_path(), {}, "");
  std::thread watcher([&] { send(exchange, watch_path()); });
  while (watches->size() == 0) std::this_thread::yield();
  draining.fire();
  watcher.join();
  EXPECT_TRUE(exchange.finished);
  EXPECT_EQ(watches->size(), 0u);
}

TEST_F(WatchTest, ResourcesWithoutAWatchSaySo) {
  use_config_maps();
  class OnlyList final : public RestStorage, public Lister {
   public:
    GroupVersionKind kind() const override { return {"", "v1", "ComponentStatus"}; }
    const Schema* schema() const override { return nullptr; }
    std::string list_kind() const override { return "ComponentStatusList"; }
    Task<Result<ListResult>> list(RequestContext&, ListOptions) override { co_return ListResult(); }
  };
  scope_.storage = std::make_shared<OnlyList>();
  handler_ = make_resource_handler(scope_);
  const Response got = send("GET", watch_path());
  EXPECT_EQ(got.code(), 405);
  EXPECT_EQ(message_of(got), "watch is not supported on resources of kind \"configmaps\"");
}

}  // namespace
}  // namespace backplane::testing
