// Tests which handler Router finds for each path, and when it finds the handler that returns 404.
#include "routing/router.hpp"

#include <algorithm>
#include <array>

#include "base/signal.hpp"
#include "endpoints/testing/harness.hpp"
#include "routing/discovery.hpp"
#include "routing/request_info.hpp"
#include "routing/route_table.hpp"

namespace backplane {
namespace {

using testing::FakeExchange;
using testing::message_of;
using testing::Response;

// A storage that has only a scope. Every read returns 404.
class Empty final : public RestStorage,
                    public Scoper,
                    public Getter,
                    public Lister,
                    public Watcher,
                    public Creater,
                    public GracefulDeleter,
                    public CollectionDeleter {
 public:
  Empty(GroupVersionKind kind, bool namespaced) : kind_(std::move(kind)), namespaced_(namespaced) {}
  GroupVersionKind kind() const override { return kind_; }
  const Schema* schema() const override { return nullptr; }
  bool namespaced() const override { return namespaced_; }
  std::string list_kind() const override { return kind_.kind + "List"; }
  Task<Result<ObjectRef>> get(RequestContext&, std::string name, GetOptions) override { co_return not_found("", "things", name); }
  Task<Result<ListResult>> list(RequestContext&, ListOptions) override { co_return internal_error("listed"); }
  Task<Result<std::unique_ptr<WatchStream>>> watch(RequestContext&, ListOptions) override { co_return internal_error("watched"); }
  Task<Result<ObjectRef>> create(RequestContext&, Object&, WriteOptions) override { co_return internal_error("created"); }
  Task<Result<DeleteResult>> remove(RequestContext&, std::string, DeleteOptions) override { co_return internal_error("removed"); }
  Task<Result<ListResult>> remove_collection(RequestContext&, DeleteOptions, ListOptions) override { co_return internal_error("swept"); }

 private:
  GroupVersionKind kind_;
  bool namespaced_;
};

APIGroupInfo group_of(const std::string& group, const std::string& version, const std::vector<std::pair<std::string, bool>>& resources) {
  APIGroupInfo info;
  info.group = group;
  info.prioritized_versions = {version};
  for (const auto& [resource, namespaced] : resources) {
    info.storages[version][resource] = std::make_shared<Empty>(GroupVersionKind{group, version, "Thing"}, namespaced);
  }
  return info;
}

PublishedResource resource_of(const std::string& group, const std::string& resource, const std::vector<std::string>& versions,
                              bool namespaced = true, const std::vector<std::string>& subresources = {}) {
  PublishedResource out;
  out.group = group;
  out.resource = resource;
  for (const std::string& version : versions) {
    PublishedResource::Version made;
    made.version = version;
    const GroupVersionKind kind{group, version, "Thing"};
    made.storages[resource] = std::make_shared<Empty>(kind, namespaced);
    for (const auto& each : subresources) made.storages[resource + "/" + each] = std::make_shared<Empty>(kind, namespaced);
    out.versions.push_back(std::move(made));
  }
  return out;
}

GroupsChange put(std::vector<PublishedResource> resources) {
  GroupsChange change;
  change.put = std::move(resources);
  return change;
}
GroupsChange remove(GroupResource resource) {
  GroupsChange change;
  change.removed = {std::move(resource)};
  return change;
}

// A watch that has no events until it is cancelled.
class Silence final : public WatchStream {
 public:
  Task<Result<std::vector<WatchEvent>>> next() override {
    auto over = over_.future();
    co_await over;
    co_return std::vector<WatchEvent>();
  }
  void cancel() override { over_.set(true); }

 private:
  Promise<bool> over_;
};
class Silent final : public RestStorage, public Scoper, public Watcher {
 public:
  explicit Silent(Promise<bool> opened) : opened_(std::move(opened)) {}
  GroupVersionKind kind() const override { return {"x.io", "v1", "Silent"}; }
  const Schema* schema() const override { return nullptr; }
  bool namespaced() const override { return false; }
  Task<Result<std::unique_ptr<WatchStream>>> watch(RequestContext&, ListOptions) override {
    opened_.set(true);
    co_return std::unique_ptr<WatchStream>(std::make_unique<Silence>());
  }

 private:
  Promise<bool> opened_;
};

class ForwardedHandler final : public HttpHandler {
 public:
  Task<void> handle(RequestContext&, Exchange& exchange) override { co_await exchange.respond(503, "text/plain", {}); }
};

// A chain of a front server, the built-in groups, and two delegates that publish at run time.
class RouterTest : public ::testing::Test {
 protected:
  RouterTest() {
    loop_.start();
    std::vector<DelegationTarget> chain(3);
    chain[0].name = "front";
    chain[0].publishes_at_run_time = true;
    chain[0].groups = {group_of("front.io", "v1", {{"services", false}})};
    chain[1].name = "core";
    chain[1].groups = {group_of("", "v1", {{"namespaces", false}, {"things", true}}), group_of("apps", "v1", {{"deployments", true}}),
                       group_of("batch", "v1beta1", {{"jobs", true}})};
    chain[2].name = "custom";
    chain[2].publishes_at_run_time = true;
    EXPECT_TRUE(router_.compose(std::move(chain), {}).ok());
    EXPECT_FALSE(router_.groups_complete().fired());
    router_.on_group_versions_changed([this](const GroupVersionsChange& change) { changes_.push_back(change); });
    EXPECT_TRUE(router_
                    .change("custom", put({resource_of("x.io", "foos", {"v1beta1"}, true, {"status"}),
                                           resource_of("x.io", "clusters", {"v1beta1"}, false)}))
                    .ok());
  }
  ~RouterTest() override { loop_.stop(); }

  Response send(const std::string& method, const std::string& path, const std::string& body = {}) {
    auto exchange = std::make_shared<FakeExchange>(method, path, Headers{}, body);
    RequestContext context;
    EXPECT_TRUE(parse_request_info(method, path, context.info).ok()) << path;
    run_on(loop_, run(router_, context, *exchange));
    return {exchange};
  }

  void expect_no_such_resource(const std::string& method, const std::string& path) {
    const Response got = send(method, path);
    EXPECT_EQ(got.code(), 404) << path;
    EXPECT_EQ(got.body(),
              "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\",\"message\":\"the server could not find "
              "the requested resource\",\"reason\":\"NotFound\",\"details\":{},\"code\":404}\n")
        << path;
  }
  void expect_no_such_page(const std::string& method, const std::string& path) {
    const Response got = send(method, path);
    EXPECT_EQ(got.code(), 404) << path;
    EXPECT_EQ(got.body(), "404 page not found\n") << path;
  }

  std::string text_of(const std::string& path) { return send("GET", path).body(); }
  // Returns the changes of group versions that were reported since the last call: "+group/version" and "-group/version".
  std::vector<std::string> reported_changes() {
    std::vector<std::string> out;
    for (const auto& change : std::exchange(changes_, {})) {
      for (const auto& info : change.served) out.push_back("+" + info.group_version.to_string());
      for (const auto& version : change.gone) out.push_back("-" + version.to_string());
    }
    return out;
  }

  IoLoop loop_{"test"};
  NamedSignal ending_{"ending"};
  Router router_{config()};
  std::vector<GroupVersionsChange> changes_;

  RouterConfig config() {
    RouterConfig config;
    config.shutting_down = &ending_;
    return config;
  }
  static Task<void> run(HttpHandler& handler, RequestContext& context, FakeExchange& exchange) {
    co_await handler.handle(context, exchange);
  }
  static Task<void> wait(Promise<bool> promise) {
    auto future = promise.future();
    co_await future;
  }
};

TEST_F(RouterTest, AnOpenWatchKeepsNoneOfTheTablesThatWereReplaced) {
  Promise<bool> opened, ended;
  PublishedResource silent;
  silent.group = "x.io";
  silent.resource = "silents";
  silent.versions.push_back({"v1", {{"silents", std::make_shared<Silent>(opened)}}, nullptr});
  ASSERT_TRUE(router_.change("custom", put({std::move(silent)})).ok());
  auto exchange = std::make_shared<FakeExchange>("GET", "/apis/x.io/v1/silents?watch=true", Headers{}, std::string());
  RequestContext context;
  ASSERT_TRUE(parse_request_info("GET", "/apis/x.io/v1/silents?watch=true", context.info).ok());
  spawn_detached(loop_, run(router_, context, *exchange), [ended] { ended.set(true); });
  run_on(loop_, wait(opened));
  std::vector<std::weak_ptr<RestStorage>> published;
  for (int i = 0; i < 100; ++i) {
    auto bars = resource_of("x.io", "bars", {"v1"});
    published.push_back(bars.versions[0].storages["bars"]);
    ASSERT_TRUE(router_.change("custom", put({std::move(bars)})).ok());
  }
  const auto kept = std::count_if(published.begin(), published.end(), [](const auto& each) { return !each.expired(); });
  EXPECT_EQ(kept, 1) << "only the last one is served";
  ending_.fire();
  run_on(loop_, wait(ended));
}

TEST_F(RouterTest, AChangeOfOneResourceDoesNotChangeOthers) {
  ASSERT_TRUE(router_.change("custom", put({resource_of("x.io", "bars", {"v1", "v1beta1"})})).ok());
  EXPECT_EQ(message_of(send("GET", "/apis/x.io/v1beta1/foos")), "Internal error occurred: listed");
  EXPECT_EQ(message_of(send("GET", "/apis/x.io/v1/bars")), "Internal error occurred: listed");
  ASSERT_TRUE(router_.change("custom", put({resource_of("x.io", "bars", {"v1"})})).ok());
  expect_no_such_page("GET", "/apis/x.io/v1beta1/bars");
  ASSERT_TRUE(router_.change("custom", remove({"x.io", "foos"})).ok());
  expect_no_such_page("GET", "/apis/x.io/v1beta1/foos");
  expect_no_such_page("GET", "/apis/x.io/v1beta1/namespaces/n/foos/a/status");
  EXPECT_EQ(message_of(send("GET", "/apis/x.io/v1beta1/clusters")), "Internal error occurred: listed");
}

// Regression: the garbage collector and quotas did not receive the second kind of a group version.
TEST_F(RouterTest, ReportsGroupVersionsThatAreAddedOrRemovedOrChangeTheirResources) {
  EXPECT_EQ(reported_changes(), std::vector<std::string>{"+x.io/v1beta1"});
  ASSERT_TRUE(router_.change("custom", put({resource_of("x.io", "bars", {"v1beta1"})})).ok());
  EXPECT_EQ(reported_changes(), std::vector<std::string>{"+x.io/v1beta1"}) << "another resource of a known group version";
  ASSERT_TRUE(router_.change("custom", remove({"x.io", "bars"})).ok());
  EXPECT_EQ(reported_changes(), std::vector<std::string>{"+x.io/v1beta1"});
  ASSERT_TRUE(router_.change("custom", {}).ok());
  EXPECT_TRUE(reported_changes().empty()) << "a change without effect";
  ASSERT_TRUE(router_.change("custom", put({resource_of("y.io", "bars", {"v1", "v2"})})).ok());
  EXPECT_EQ(reported_changes(), (std::vector<std::string>{"+y.io/v1", "+y.io/v2"}));
  ASSERT_TRUE(router_.change("custom", remove({"y.io", "bars"})).ok());
  EXPECT_EQ(reported_changes(), (std::vector<std::string>{"-y.io/v1", "-y.io/v2"}));
  EXPECT_EQ(send("GET", "/apis/y.io").code(), 404);
}

// Authorization parses these paths as resource requests, but upstream has no route for some of them.
TEST_F(RouterTest, APathWithTwoSlashesIsNoPathOfTheAPI) {
  expect_no_such_page("DELETE", "//api/v1/watch/namespaces/n/things/a");
  expect_no_such_page("GET", "//api/v1/namespaces/n/things");
  expect_no_such_page("GET", "//apis/apps/v1/namespaces/n/deployments");
  expect_no_such_page("GET", "///apis/x.io/v1beta1/foos");
  EXPECT_EQ(send("DELETE", "/api/v1/watch/namespaces/n/things/a").code(), 405);
}

TEST_F(RouterTest, CallbacksThatMakeChangesGetThemInOrder) {
  std::vector<std::string> received;
  const auto publish = [this](const char* group) { return router_.change("custom", put({resource_of(group, "bars", {"v1"})})); };
  router_.on_group_versions_changed([&](const GroupVersionsChange& change) {
    if (!change.served.empty() && change.served[0].group_version.group == "y.io") {
      EXPECT_TRUE(publish("z.io").ok());
      throw std::runtime_error("thrown on purpose");
    }
  });
  router_.on_group_versions_changed([&](const GroupVersionsChange& change) {
    for (const auto& info : change.served) received.push_back(info.group_version.group);
  });
  ASSERT_TRUE(publish("y.io").ok());
  EXPECT_EQ(received, (std::vector<std::string>{"y.io", "z.io"}));
}

TEST_F(RouterTest, PublishedPathsCannotReplaceExistingOrReservedPaths) {
  auto handler = std::make_shared<ForwardedHandler>();
  for (const char* path : {"/api", "/api/v2", "/openapi", "/openapi/v3/x"}) {
    const Status refused = router_.publish_path("custom", PathRoute{path, true, true, handler});
    EXPECT_EQ(refused.reason(), Reason::kBadRequest) << path;
  }
  EXPECT_EQ(router_.publish_path("custom", PathRoute{"/apis/x.io", true, true, handler}).reason(), Reason::kAlreadyExists);
  ASSERT_TRUE(router_.publish_path("custom", PathRoute{"/apis/far.io/v1", true, true, handler}).ok());
  EXPECT_EQ(send("GET", "/apis/far.io/v1/things").code(), 503);
  ASSERT_TRUE(router_.change("custom", put({resource_of("far.io", "bars", {"v1"})})).ok());
  EXPECT_EQ(message_of(send("GET", "/apis/far.io/v1/bars")), "Internal error occurred: listed");
  EXPECT_EQ(send("GET", "/apis/far.io/v1").code(), 200) << "what is served since goes first";
  ASSERT_TRUE(router_.publish_path("custom", PathRoute{"/version/more", false, true, handler}).ok());
  ASSERT_TRUE(router_.publish_path("custom", PathRoute{"/debug", true, true, handler}).ok());
  EXPECT_EQ(send("GET", "/version/more").code(), 503);
  EXPECT_EQ(send("GET", "/debug/other").code(), 503);
  EXPECT_EQ(send("GET", "/debug/chain").code(), 200) << "the host's own, below what was published later";
}

TEST_F(RouterTest, GroupVersionsHaveTheFactsOfAnAPIService) {
  ASSERT_TRUE(router_.change("custom", put({resource_of("x.io", "foos", {"v1beta1", "v1", "v2"})})).ok());
  std::vector<std::string> versions;
  for (const auto& info : router_.group_versions()) {
    if (info.group_version.group != "x.io") continue;
    versions.push_back(info.group_version.version);
    EXPECT_EQ(info.group_priority_minimum, 1000);
    EXPECT_EQ(info.version_priority, 100);
    EXPECT_TRUE(info.published);
    EXPECT_EQ(info.delegate, "custom");
  }
  EXPECT_EQ(versions, (std::vector<std::string>{"v2", "v1", "v1beta1"}));
}

TEST_F(RouterTest, AGroupVersionOfAnotherPluginIsRefusedAndNothingOfTheChangeIsServed) {
  const Status refused = router_.change("custom", put({resource_of("y.io", "bars", {"v1"}), resource_of("apps", "bars", {"v1"})}));
  EXPECT_EQ(refused.message(), "group version apps/v1 is served by plugin \"core\" already; plugin \"custom\" cannot serve it too");
  EXPECT_EQ(send("GET", "/apis/y.io").code(), 404);
  ASSERT_TRUE(router_.change("custom", put({resource_of("apps", "bars", {"v7"})})).ok());
  EXPECT_EQ(message_of(send("GET", "/apis/apps/v7/bars")), "Internal error occurred: listed");
}

TEST_F(RouterTest, IsCompleteWhenAllRegistrantsAreComplete) {
  EXPECT_FALSE(router_.groups_complete().fired()) << "the front has said nothing";
  ASSERT_TRUE(router_.change("front", {}).ok());
  EXPECT_TRUE(router_.groups_complete().fired());
}

// Regression: a client that accepts only protobuf got 406, because only JSON was offered.
TEST_F(RouterTest, DiscoveryIsAnsweredInProtobufToo) {
  constexpr std::string_view kProtobuf = "application/vnd.kubernetes.protobuf";
  constexpr std::string_view kWords = ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
  const auto ask = [&](const std::string& path, const std::string& accept) {
    auto exchange = std::make_shared<FakeExchange>("GET", path, Headers{{"Accept", accept}}, std::string());
    RequestContext context;
    EXPECT_TRUE(parse_request_info("GET", path, context.info).ok());
    run_on(loop_, run(router_, context, *exchange));
    return exchange;
  };
  const std::vector<std::array<std::string_view, 4>> documents = {{"/api", "APIVersions", "", ""},
                                                                  {"/api/v1", "APIResourceList", "", ""},
                                                                  {"/apis", "APIGroupList", "v1", ""},
                                                                  {"/apis/apps", "APIGroup", "v1", ""},
                                                                  {"/apis/x.io/v1beta1", "APIResourceList", "v1", ""},
                                                                  {"/api", "APIGroupDiscoveryList", "apidiscovery.k8s.io/v2", kWords},
                                                                  {"/apis", "APIGroupDiscoveryList", "apidiscovery.k8s.io/v2", kWords}};
  for (const auto& [path, kind, api_version, words] : documents) {
    const auto json = ask(std::string(path), "application/json" + std::string(words));
    const auto got = ask(std::string(path), std::string(kProtobuf).append(words));
    EXPECT_EQ(got->code, 200) << path;
    EXPECT_EQ(got->content_type, std::string(kProtobuf).append(words)) << path;
    EXPECT_EQ(got->headers_named("ETag"), json->headers_named("ETag")) << path;
    const auto envelope = open_protobuf_envelope(got->response_body);
    ASSERT_TRUE(envelope.ok()) << path;
    EXPECT_EQ(envelope->kind, kind);
    EXPECT_EQ(envelope->api_version, api_version);
    const Schema* schema = discovery_schema(kind);
    auto tree = schema->decode_protobuf(envelope->raw, json::storage_ptr());
    ASSERT_TRUE(tree.ok()) << path;
    Value expected = json::parse(json->response_body);
    ASSERT_TRUE(schema->normalize(*tree, nullptr).ok() && schema->normalize(expected, nullptr).ok());
    // This server has no address to list, and protobuf has no empty lists.
    if (Value* ranges = expected.as_object().if_contains("serverAddressByClientCIDRs")) ranges->emplace_null();
    expected.as_object().stable_erase("kind");
    expected.as_object().stable_erase("apiVersion");
    EXPECT_EQ(to_json(*tree), to_json(expected)) << path;
  }
  const auto first = ask("/apis", std::string(kProtobuf).append(kWords)), second = ask("/apis", std::string(kProtobuf).append(kWords));
  EXPECT_EQ(first->first_piece, second->first_piece) << "it is made once for all";
}

TEST_F(RouterTest, AForwardedGroupVersionIsServedByItsHandlerAndPrecedesOneOfThisServer) {
  GroupsChange forward;
  forward.forwarded = {{{"agg.io", "v1"}, 100, 10, std::make_shared<ForwardedHandler>()},
                       {{"apps", "v1"}, 100, 10, std::make_shared<ForwardedHandler>()}};
  ASSERT_TRUE(router_.change("front", std::move(forward)).ok());
  for (const char* path : {"/apis/agg.io/v1", "/apis/agg.io/v1/", "/apis/agg.io/v1/things", "/apis/agg.io/v1/namespaces/n/things/a/x/y",
                           "/apis/apps/v1", "/apis/apps/v1/deployments"}) {
    EXPECT_EQ(send("GET", path).code(), 503) << path;
    EXPECT_EQ(send("POST", path).code(), 503) << path;
  }
  EXPECT_NE(text_of("/apis").find(R"({"name":"agg.io","versions":[{"groupVersion":"agg.io/v1","version":"v1"}])"), std::string::npos);
  auto aggregated = std::make_shared<FakeExchange>(
      "GET", "/apis", Headers{{"Accept", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}}, std::string());
  RequestContext context;
  ASSERT_TRUE(parse_request_info("GET", "/apis", context.info).ok());
  run_on(loop_, run(router_, context, *aggregated));
  EXPECT_NE(aggregated->response_body.find(R"({"metadata":{"name":"agg.io"},"versions":[{"version":"v1","freshness":"Stale"}]})"),
            std::string::npos)
      << aggregated->response_body;
  GroupsChange withdrawn;
  withdrawn.withdrawn = {{"agg.io", "v1"}, {"apps", "v1"}};
  ASSERT_TRUE(router_.change("front", std::move(withdrawn)).ok());
  EXPECT_EQ(send("GET", "/apis/agg.io/v1").code(), 404);
  EXPECT_EQ(message_of(send("GET", "/apis/apps/v1/deployments")), "Internal error occurred: listed");
}

TEST(PersistentMapTest, ChangesMakeNewMapsAndLeaveTheOldOnesAlone) {
  PersistentMap<int> map;
  std::map<std::string, int> expected;
  std::vector<std::pair<PersistentMap<int>, std::map<std::string, int>>> versions;
  for (int i = 0; i < 400; ++i) {
    const std::string key = "k" + std::to_string(i * 7919 % 97);
    if (i % 3 == 2) {
      map = map.without(key);
      expected.erase(key);
    } else {
      map = map.with(key, i);
      expected[key] = i;
    }
    versions.emplace_back(map, expected);
  }
  for (const auto& each_version : versions) {
    const PersistentMap<int>& version = each_version.first;
    const std::map<std::string, int>& contents = each_version.second;
    std::map<std::string, int> seen;
    std::string last;
    version.each([&](const std::string& key, int value) {
      EXPECT_LT(last, key);
      last = key;
      seen[key] = value;
      EXPECT_EQ(*version.find(key), contents.at(key));
    });
    EXPECT_EQ(seen, contents);
    EXPECT_EQ(version.size(), contents.size());
  }
  std::vector<std::string> from;
  map.each_from("k5", [&](const std::string& key, int) {
    if (!key.starts_with("k5")) return false;
    from.push_back(key);
    return true;
  });
  for (const auto& [key, value] : expected) EXPECT_EQ(std::count(from.begin(), from.end(), key), key.starts_with("k5") ? 1 : 0) << key;
}

const auto shelf = std::make_shared<DocumentShelf>(DocumentShelf::Limits{.max_bytes = 1000, .keep = std::chrono::seconds(60)});

Task<void> get_document(const LazyDocument& document, std::function<std::string()> make, std::string& out) {
  auto making = document.get(shelf, std::move(make));
  const LazyDocument::MadeRef made = co_await std::move(making);
  out = made->bytes.view();
}

TEST(LazyDocumentTest, IsMadeOnceForAllRequestsAndAgainAfterAFailure) {
  IoLoop loop("test"), pool("pool");
  loop.start();
  pool.start();
  set_blocking_executor(&pool);
  const LazyDocument document;
  int made = 0;
  std::string out[3];
  EXPECT_ANY_THROW(run_on(loop, get_document(
                                    document, []() -> std::string { throw std::runtime_error("no"); }, out[0])));
  Promise<bool> done[2];
  for (int i = 0; i < 2; ++i) {
    spawn_detached(loop,
                   get_document(
                       document, [&made] { return "text" + std::to_string(++made); }, out[i]),
                   [promise = done[i]] { promise.set(true); });
  }
  struct Wait {
    static Task<void> on(Promise<bool> promise) {
      auto future = promise.future();
      co_await future;
    }
  };
  for (const auto& each : done) run_on(loop, Wait::on(each));
  run_on(loop, get_document(
                   document, [] { return std::string("late"); }, out[2]));
  EXPECT_EQ(made, 1);
  for (const auto& each : out) EXPECT_EQ(each, "text1");
  set_blocking_executor(nullptr);
  pool.stop();
  loop.stop();
}

TEST(LazyDocumentTest, ADocumentThatWasNotReadLatelyIsMadeAgain) {
  IoLoop loop("test"), pool("pool");
  loop.start();
  pool.start();
  set_blocking_executor(&pool);
  const LazyDocument documents[4];
  int made = 0;
  std::string out;
  const auto read = [&](int i) {
    run_on(loop, get_document(
                     documents[i], [&made] { return std::string(400, 'a' + ++made); }, out));
  };
  const auto is_kept = [&](int i) {
    const int before = made;
    read(i);
    return made == before;
  };
  read(0);
  read(1);
  EXPECT_TRUE(is_kept(0));
  read(2);  // the cache has no room for three documents
  EXPECT_TRUE(is_kept(0));
  EXPECT_TRUE(is_kept(2));
  EXPECT_FALSE(is_kept(1));
  EXPECT_EQ(documents[1].hash(), sha512_hex(out));
  EXPECT_EQ(documents[0].hash(), sha512_hex(std::string(400, 'b')));  // the hash remains although the document has been evicted
  EXPECT_EQ(documents[3].hash(), "");
  EXPECT_TRUE(is_kept(1));
  shelf->sweep(DocumentShelf::Clock::now() + std::chrono::seconds(59));
  EXPECT_TRUE(is_kept(1));
  shelf->sweep(DocumentShelf::Clock::now() + std::chrono::seconds(61));
  EXPECT_FALSE(is_kept(1));
  // A document that is larger than the limit of the cache evicts all others.
  const std::string large(5000, 'x');
  run_on(loop, get_document(
                   documents[3], [&] { return large; }, out));
  EXPECT_TRUE(is_kept(3));
  EXPECT_FALSE(is_kept(1));
  set_blocking_executor(nullptr);
  pool.stop();
  loop.stop();
}

TEST_F(RouterTest, WhatIsPublishedIsServedWhateverItsVersionIsCalled) {
  EXPECT_EQ(message_of(send("GET", "/apis/x.io/v1beta1/namespaces/n/foos")), "Internal error occurred: listed");
  EXPECT_EQ(send("GET", "/apis/x.io/v1beta1").code(), 200);
  expect_no_such_page("GET", "/apis/batch/v1beta1");
}

TEST_F(RouterTest, UnknownPathsBelowAKnownRootAreAStatus) {
  for (const char* path : {"/apis/apps/v9", "/apis/apps/v9/", "/apis/front.io/v2", "/api/v2", "/api/x", "/api/v2/pods", "/version/x",
                           "/apis/apps/v9/deployments", "/apis/apps/v1/unknown", "/api/v1/unknown"}) {
    expect_no_such_resource("GET", path);
    expect_no_such_resource("POST", path);
  }
}

TEST_F(RouterTest, UnknownPathsOutsideTheApiArePlainText) {
  for (const char* path : {"/apis/none.io", "/apis/none.io/v1", "/apis/x.io/v9", "/apis/x.io/v1beta1/unknown", "/apis//v1/namespaces",
                           "/apix", "/versions", "/x"}) {
    expect_no_such_page("GET", path);
  }
}

TEST_F(RouterTest, AClusterScopedResourceIsNotWithinANamespace) {
  expect_no_such_resource("GET", "/api/v1/namespaces/d1/namespaces");
  expect_no_such_resource("GET", "/api/v1/namespaces/d1/namespaces/d1");
  expect_no_such_resource("GET", "/api/v1/watch/namespaces/d1/namespaces");
  EXPECT_EQ(message_of(send("GET", "/api/v1/namespaces/d1")), "things \"d1\" not found");
  EXPECT_EQ(message_of(send("GET", "/api/v1/namespaces/namespaces")), "things \"namespaces\" not found");
  EXPECT_EQ(message_of(send("GET", "/api/v1/watch/namespaces/d1")), "Internal error occurred: watched");
}

TEST_F(RouterTest, OnlyListsAndWatchesOfCustomResourcesGoOverAllNamespaces) {
  EXPECT_EQ(message_of(send("GET", "/apis/x.io/v1beta1/foos")), "Internal error occurred: listed");
  EXPECT_EQ(message_of(send("GET", "/apis/x.io/v1beta1/foos?watch=1")), "Internal error occurred: watched");
  expect_no_such_page("POST", "/apis/x.io/v1beta1/foos");
  expect_no_such_page("DELETE", "/apis/x.io/v1beta1/foos");
  expect_no_such_page("GET", "/apis/x.io/v1beta1/foos/a");
  expect_no_such_page("GET", "/apis/x.io/v1beta1/namespaces/n/clusters");
  EXPECT_EQ(send("POST", "/api/v1/things").code(), 405) << "a path of the built-in groups has other methods";
}

TEST_F(RouterTest, ASubresourceThatACustomResourceHasNotGotIsANameThatIsNotFound) {
  EXPECT_EQ(message_of(send("GET", "/apis/x.io/v1beta1/namespaces/n/foos/a/scale")), "foos.x.io \"a\" not found");
  EXPECT_EQ(message_of(send("GET", "/apis/x.io/v1beta1/namespaces/n/foos/a/status/more")), "things \"a\" not found");
  expect_no_such_resource("GET", "/apis/apps/v1/namespaces/n/deployments/a/scale");
}

TEST_F(RouterTest, TheFrontAnswersForGroupsWithoutALookAtTheMethod) {
  for (const char* path : {"/apis", "/apis/", "/apis/apps", "/apis/x.io", "/apis/x.io/v1beta1"}) {
    for (const char* method : {"GET", "POST", "PUT", "DELETE"}) EXPECT_EQ(send(method, path).code(), 200) << method << " " << path;
  }
  for (const char* path : {"/api", "/apis/apps/v1", "/apis/front.io", "/version"}) {
    EXPECT_EQ(send("GET", path).code(), 200) << path;
    EXPECT_EQ(send("POST", path).code(), 405) << path;
  }
}

TEST_F(RouterTest, TheStatusOfACustomResourceIsListedBeforeItsScale) {
  ASSERT_TRUE(router_.change("custom", put({resource_of("x.io", "foos", {"v1"}, true, {"scale", "status"})})).ok());
  const std::string body = send("GET", "/apis/x.io/v1").body();
  EXPECT_LT(body.find(R"("foos")"), body.find("foos/status"));
  EXPECT_LT(body.find("foos/status"), body.find("foos/scale"));
}

TEST_F(RouterTest, CustomResourcesNameTheirVerbsInAnOrderOfTheirOwn) {
  EXPECT_NE(send("GET", "/apis/x.io/v1beta1").body().find(R"("verbs":["delete","deletecollection","get","list","create","watch"])"),
            std::string::npos);
  EXPECT_NE(send("GET", "/api/v1").body().find(R"("verbs":["create","delete","deletecollection","get","list","watch"])"),
            std::string::npos);
}

}  // namespace
}  // namespace backplane
