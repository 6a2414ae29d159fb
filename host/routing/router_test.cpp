// Which path leads where: what is served, and who says that it is not.
#include "routing/router.hpp"

#include "endpoints/testing/harness.hpp"
#include "routing/request_info.hpp"
#include "routing/route_table.hpp"

namespace backplane {
namespace {

using testing::FakeExchange;
using testing::message_of;
using testing::Response;

// Knows nothing but its scope: every read finds nothing.
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

// A front server, the built-in groups, and one that publishes at run time.
class RouterTest : public ::testing::Test {
 protected:
  RouterTest() {
    loop_.start();
    std::vector<DelegationTarget> chain(3);
    chain[0].name = "front";
    chain[0].groups = {group_of("front.io", "v1", {{"services", false}})};
    chain[1].name = "core";
    chain[1].groups = {group_of("", "v1", {{"namespaces", false}, {"things", true}}), group_of("apps", "v1", {{"deployments", true}}),
                       group_of("batch", "v1beta1", {{"jobs", true}})};
    chain[2].name = "custom";
    chain[2].publishes_at_run_time = true;
    EXPECT_TRUE(router_.compose(std::move(chain), {}).ok());
    EXPECT_TRUE(
        router_.publish("custom", {group_of("x.io", "v1beta1", {{"foos", true}, {"foos/status", true}, {"clusters", false}})}).ok());
  }
  ~RouterTest() override { loop_.stop(); }

  Response send(const std::string& method, const std::string& path, const std::string& body = {}) {
    auto exchange = std::make_shared<FakeExchange>(method, path, Headers{}, body);
    RequestContext context;
    auto info = parse_request_info(method, path);
    EXPECT_TRUE(info.ok()) << path;
    context.info = *info;
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

  IoLoop loop_{"test"};
  Router router_{RouterConfig{}};

 private:
  static Task<void> run(HttpHandler& handler, RequestContext& context, FakeExchange& exchange) {
    co_await handler.handle(context, exchange);
  }
};

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

TEST_F(RouterTest, UnknownPathsElsewhereArePlainText) {
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
  ASSERT_TRUE(router_.publish("custom", {group_of("x.io", "v1", {{"foos", true}, {"foos/scale", true}, {"foos/status", true}})}).ok());
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
