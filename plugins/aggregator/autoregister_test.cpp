#include "autoregister.hpp"

#include <gtest/gtest.h>

#include "fake_host.hpp"

namespace backplane {
namespace {

using test::FakeHost;
using test::FakeStore;
using test::FakeSubresource;

GroupVersionInfo served(std::string group, bool published = false) {
  GroupVersionInfo info;
  info.group_version = {std::move(group), "v1"};
  info.group_priority_minimum = 1000;
  info.version_priority = 100;
  info.published = published;
  return info;
}

Task<void> wait(std::shared_ptr<Autoregister> autoregister, std::optional<bool>& out) { out = co_await autoregister->wait_complete(); }

class AutoregisterTest : public ::testing::Test {
 protected:
  AutoregisterTest() {
    ResourceConfig config;
    config.kind = {"apiregistration.k8s.io", "v1", "APIService"};
    store = std::make_shared<FakeStore>(std::move(config));
    host.versions = {served("a.io"), served("apiregistration.k8s.io")};
  }
  ~AutoregisterTest() override {
    if (autoregister) autoregister->stop();
    host.stop.fire();
    host.turns.run_until_idle(true);
    EXPECT_EQ(host.running, 0);
  }
  void start() {
    autoregister = std::make_shared<Autoregister>(host, store, std::make_shared<FakeSubresource>(store), host.groups);
    autoregister->start_informer();
    autoregister->start_registration();
    autoregister->start_workers();
    autoregister->remotes()->start_checks();
    autoregister->remotes()->start_readings();
    host.turns.run_until_idle();
  }
  void change(std::vector<GroupVersionInfo> come, std::vector<GroupVersion> gone = {}) {
    GroupVersionsChange what;
    what.served = std::move(come);
    what.gone = std::move(gone);
    host.versions_changed(what);
    host.turns.run_until_idle();
  }
  std::vector<std::string> names() {
    std::vector<std::string> out;
    for (const auto& [name, _] : store->data) out.push_back(name);
    return out;
  }
  Object get(const std::string& name) { return decode(*store->data.at(name), {}); }
  std::string available(const std::string& name) {
    const Object object = get(name);
    const Value* conditions = find_path(object, "status.conditions");
    return conditions ? std::string(get_string(conditions->as_array().at(0).as_object(), "reason")) : "";
  }
  void put(const std::string& text) {
    store->put(json::parse(text).as_object(), WatchEvent::Type::kAdded);
    host.turns.run_until_idle();
  }

  // As another server or a user would.
  void change_priority(const std::string& name) {
    Object changed = get(name);
    changed.at("spec").as_object()["versionPriority"] = 7;
    store->put(changed, WatchEvent::Type::kModified);
    host.turns.run_until_idle();
  }

  FakeHost host;
  std::shared_ptr<FakeStore> store;
  std::shared_ptr<Autoregister> autoregister;
};

constexpr const char* kStale =
    R"({"metadata":{"name":"v1.old.io","uid":"u-old","labels":{"kube-aggregator.kubernetes.io/automanaged":"true"}},
  "spec":{"group":"old.io","version":"v1","groupPriorityMinimum":1000,"versionPriority":100}})";

TEST_F(AutoregisterTest, EveryGroupVersionButItsOwnIsRegisteredAndAvailable) {
  start();
  EXPECT_EQ(names(), std::vector<std::string>{"v1.a.io"});
  EXPECT_EQ(available("v1.a.io"), "Local");
  EXPECT_TRUE(autoregister->complete());
  EXPECT_EQ(get_string_path(get("v1.a.io"), "spec.group"), "a.io");
}

TEST_F(AutoregisterTest, AnApiServiceIsWrittenTwiceAndThenNotChanged) {
  start();
  host.turns.run_until_idle(true);
  EXPECT_EQ(store->creates, 1);
  EXPECT_EQ(store->updates, 1) << "the condition, once";
}

TEST_F(AutoregisterTest, FollowsAddedAndRemovedGroupVersions) {
  start();
  host.all_groups.fire();
  change({served("b.io", true)});
  EXPECT_EQ(names(), (std::vector<std::string>{"v1.a.io", "v1.b.io"}));
  const Object made = get("v1.b.io");
  EXPECT_EQ(get_string(*ObjectMeta(const_cast<Object&>(made)).labels(), "kube-aggregator.kubernetes.io/automanaged"), "true");
  change({}, {{"b.io", "v1"}});
  EXPECT_EQ(names(), std::vector<std::string>{"v1.a.io"});
}

TEST_F(AutoregisterTest, AnApiServiceOfAGroupThatIsYetToComeKeepsItsUid) {
  put(kStale);
  start();
  EXPECT_EQ(names(), (std::vector<std::string>{"v1.a.io", "v1.old.io"}));
  change({served("old.io", true)});
  host.all_groups.fire();
  host.turns.run_until_idle();
  EXPECT_EQ(meta_text(get("v1.old.io"), "uid"), "u-old");
}

TEST_F(AutoregisterTest, StaleAPIServicesAreRemovedWhenAllRegistrantsAreComplete) {
  host.versions = {served("a.io"), served("apiextensions.k8s.io")};
  put(kStale);
  put(R"({"metadata":{"name":"v1.hand.io"},"spec":{"group":"hand.io","version":"v1"}})");
  start();
  EXPECT_EQ(store->data.count("v1.old.io"), 1u);
  host.all_groups.fire();
  host.turns.run_until_idle();
  EXPECT_EQ(names(), (std::vector<std::string>{"v1.a.io", "v1.apiextensions.k8s.io", "v1.hand.io"})) << "what was made by hand stays";
}

TEST_F(AutoregisterTest, ADeletedOrChangedApiServiceOfACustomGroupIsRestored) {
  start();
  change({served("b.io", true)});
  store->erase("v1.b.io");
  host.turns.run_until_idle();
  EXPECT_EQ(names(), (std::vector<std::string>{"v1.a.io", "v1.b.io"}));
  change_priority("v1.b.io");
  EXPECT_EQ(get_int_path(get("v1.b.io"), "spec.versionPriority"), 100);
}

TEST_F(AutoregisterTest, ADeletedOrChangedOnStartApiServiceIsNotRestored) {
  host.versions.push_back(served("b.io"));
  start();
  host.all_groups.fire();
  host.turns.run_until_idle();
  store->erase("v1.a.io");
  host.turns.run_until_idle();
  EXPECT_EQ(names(), std::vector<std::string>{"v1.b.io"});
  change_priority("v1.b.io");
  EXPECT_EQ(get_int_path(get("v1.b.io"), "spec.versionPriority"), 7);
}

TEST_F(AutoregisterTest, AChangedOnStartApiServiceIsRestoredByARestart) {
  put(R"({"metadata":{"name":"v1.a.io","labels":{"kube-aggregator.kubernetes.io/automanaged":"onstart"}},
    "spec":{"group":"a.io","version":"v1","groupPriorityMinimum":1000,"versionPriority":7}})");
  start();
  EXPECT_EQ(get_int_path(get("v1.a.io"), "spec.versionPriority"), 100);
}

constexpr const char* kOfAnother =
    R"({"metadata":{"name":"v1.other.io","uid":"u","labels":{"kube-aggregator.kubernetes.io/automanaged":"onstart"}},
  "spec":{"group":"other.io","version":"v1","groupPriorityMinimum":1000,"versionPriority":100}})";

TEST_F(AutoregisterTest, AnOnStartApiServiceOfAnotherServerIsRemovedAtMostOnce) {
  put(kOfAnother);
  start();
  host.all_groups.fire();
  host.turns.run_until_idle();
  EXPECT_EQ(names(), std::vector<std::string>{"v1.a.io"}) << "it existed at the start";
  put(kOfAnother);
  host.turns.run_until_idle(true);
  EXPECT_EQ(names(), (std::vector<std::string>{"v1.a.io", "v1.other.io"})) << "the other server has made it since";
}

TEST_F(AutoregisterTest, CustomGroupsOfOtherServersAreKeptIfNoDefinitionsAreServed) {
  host.versions = {served("a.io")};
  put(kStale);
  start();
  host.all_groups.fire();
  host.turns.run_until_idle();
  EXPECT_EQ(names(), (std::vector<std::string>{"v1.a.io", "v1.old.io"}));
}

TEST_F(AutoregisterTest, AGroupThatThisServerNoLongerHasGoesOnce) {
  start();
  host.all_groups.fire();
  change({}, {{"a.io", "v1"}});
  EXPECT_TRUE(names().empty());
}

TEST_F(AutoregisterTest, TwoServersThatDisagreeOnACustomGroupPauseBetweenWrites) {
  start();
  change({served("b.io", true)});
  for (int i = 0; i < 20; ++i) change_priority("v1.b.io");
  EXPECT_EQ(get_int_path(get("v1.b.io"), "spec.versionPriority"), 7) << "it waits";
  EXPECT_LE(store->updates, 8);
}

TEST_F(AutoregisterTest, WhatFailsIsTriedAgainAndTheStartWaitsForIt) {
  store->refuse_creates = 3;
  start();
  std::optional<bool> complete;
  host.spawn("wait", wait(autoregister, complete));
  host.turns.run_until_idle();
  EXPECT_FALSE(complete.has_value());
  EXPECT_FALSE(autoregister->complete());
  host.turns.run_until_idle(true);
  EXPECT_EQ(names(), std::vector<std::string>{"v1.a.io"});
  EXPECT_EQ(complete, true);
}

TEST_F(AutoregisterTest, AnExceptionEndsNothing) {
  store->throw_on_update = 2;
  start();
  EXPECT_EQ(available("v1.a.io"), "");
  host.turns.run_until_idle(true);
  EXPECT_EQ(available("v1.a.io"), "Local");
}

TEST_F(AutoregisterTest, AStopEndsTheWaitOfTheStart) {
  store->refuse_creates = 1;
  start();
  std::optional<bool> complete;
  host.spawn("wait", wait(autoregister, complete));
  host.turns.run_until_idle();
  autoregister->stop();
  host.turns.run_until_idle();
  EXPECT_EQ(complete, false);
}

TEST_F(AutoregisterTest, TheAvailabilityOfARemoteApiServiceFollowsItsService) {
  ResourceConfig config;
  config.kind = {"", "v1", "Service"};
  const auto services = std::make_shared<FakeStore>(std::move(config));
  host.served["services"] = services;
  start();
  put(R"({"metadata":{"name":"v1.far.io"},"spec":{"group":"far.io","version":"v1","service":{"namespace":"n","name":"far"}}})");
  EXPECT_EQ(available("v1.far.io"), "ServiceNotFound");
  EXPECT_EQ(host.groups->forwarded, std::vector<std::string>{"far.io/v1"});
  services->put(json::parse(R"({"metadata":{"namespace":"n","name":"far"},"spec":{"type":"ExternalName"}})").as_object(),
                WatchEvent::Type::kAdded);
  host.turns.run_until_idle();
  EXPECT_EQ(available("v1.far.io"), "FailedDiscoveryCheck");
  store->erase("v1.far.io");
  host.turns.run_until_idle();
  EXPECT_TRUE(host.groups->forwarded.empty());
}

}  // namespace
}  // namespace backplane
