#include "plugin/staging_host.hpp"

#include <gtest/gtest.h>

#include <future>

#include "base/io_loop.hpp"
#include "base/loop_set.hpp"

namespace backplane {
namespace {

class NoHandler final : public HttpHandler {
 public:
  Task<void> handle(RequestContext&, Exchange&) override { co_return; }
};

Task<Status> throwing_hook() {
  throw std::runtime_error("boom");
  co_return Status();
}
Task<Status> quiet_hook() { co_return Status(); }

class ThrowingCheck final : public HealthCheck {
 public:
  std::string name() const override { return "explosive"; }
  std::string group() const override { return "fireworks"; }
  Task<Status> check() override { return throwing_hook(); }
};

class Thing : public RestStorage {
 public:
  GroupVersionKind kind() const override { return {"g", "v1", "Thing"}; }
  const Schema* schema() const override { return nullptr; }
};
class ScopedThing final : public Thing, public Scoper {
 public:
  bool namespaced() const override { return true; }
};

// The group version g/v1; it has a storage that implements Scoper at each path.
APIGroupInfo group_of(std::vector<std::string> paths) {
  APIGroupInfo info;
  info.group = "g";
  info.prioritized_versions = {"v1"};
  for (auto& path : paths) info.storages["v1"][std::move(path)] = std::make_shared<ScopedThing>();
  return info;
}

PublishedResource resource_of(std::string resource, std::vector<std::string> paths) {
  PublishedResource out;
  out.group = "g";
  out.resource = std::move(resource);
  out.versions.push_back({"v1", group_of(std::move(paths)).storages["v1"], nullptr});
  return out;
}

class StagingHostTest : public ::testing::Test, public ServedApi, public ServerAccess {
 protected:
  StagingHostTest() { loop_.start(); }
  ~StagingHostTest() override {
    loops_.stop(std::chrono::hours(1));
    loop_.stop();
  }

  std::unique_ptr<StagingHost> host(const std::string& plugin, Hold hold = {}) {
    return std::make_unique<StagingHost>(plugin, services_, names_, GenerationParts{loops_, tasks_, stop_, std::move(hold)});
  }
  PathRoute path(std::string text) { return PathRoute{std::move(text), false, true, std::make_shared<NoHandler>()}; }

  Status change(const std::string& delegate, GroupsChange) override {
    if (refuse_changes_) return internal_error("refused");
    published_.push_back(delegate);
    return {};
  }
  void on_group_versions_changed(std::function<void(const GroupVersionsChange&)> callback, const void*) override { callback({}); }
  Signal& groups_complete() override { return complete_; }
  Status publish_path(const std::string& delegate, PathRoute route) override {
    published_.push_back(delegate + " " + route.path);
    return {};
  }
  Status withdraw_path(const std::string& delegate, const std::string& path) override {
    published_.push_back(delegate + " not " + path);
    return {};
  }
  std::vector<StoredObjects> stored_objects() const override { return stored_; }
  Status authorizer_order_changed() override {
    ++order_changes_;
    return refuse_changes_ ? bad_request("no plugin offers it") : Status();
  }

  IoLoop loop_{"test"};
  StoreEnvironment stores_;
  PluginSettings settings_;
  LoopSet loops_;
  LoggedTaskGroup tasks_;
  NamedSignal stop_{"stop"};
  NamedSignal complete_{"complete"};
  std::vector<std::string> published_;
  std::vector<StoredObjects> stored_;
  bool refuse_changes_ = false;
  int order_changes_ = 0;
  HostServices services_{stores_, settings_, *this, *this, {{"path /healthz", "the host"}}};
  TakenNames names_{services_.taken};
};

TEST_F(StagingHostTest, ADuplicateNameIsRefusedAndNamesTheFirstRegistrant) {
  auto core = host("core"), apps = host("apps");
  ASSERT_TRUE(core->handle(path("/metrics")).ok());
  auto status = apps->handle(path("/metrics"));
  EXPECT_EQ(status.reason(), Reason::kAlreadyExists);
  EXPECT_EQ(status.message(), "path /metrics is already registered by core");
  EXPECT_EQ(apps->handle(path("/healthz")).message(), "path /healthz is already registered by the host");
  ASSERT_TRUE(core->add_pre_shutdown_hook("x", quiet_hook).ok());
  EXPECT_EQ(apps->add_pre_shutdown_hook("x", quiet_hook).message(), "preshutdownhook x is already registered by core");
}

TEST_F(StagingHostTest, AnOrderOfAuthorizersChangesOnlyIfTheServerCanUseIt) {
  auto first = host("authorization"), second = host("other");
  ASSERT_TRUE(first->set_authorizer_order({{"RBAC", "rbac"}}).ok());
  EXPECT_EQ(second->set_authorizer_order({{"Node", "node"}}).message(), "authorizer order is already registered by authorization");
  const auto order = first->commit().authorizer_order;
  ASSERT_NE(order, nullptr);
  EXPECT_EQ(order->get().at(0).type, "RBAC");
  EXPECT_EQ(order_changes_, 0) << "the server reads it when it starts";
  ASSERT_TRUE(first->set_authorizer_order({{"Node", "node"}}).ok());
  EXPECT_EQ(order_changes_, 1);
  EXPECT_EQ(order->get().at(0).type, "Node");
  refuse_changes_ = true;
  EXPECT_EQ(first->set_authorizer_order({{"Webhook", "x"}}).message(), "no plugin offers it");
  EXPECT_EQ(order->get().at(0).type, "Node") << "the former order stays";
  second->commit();
  EXPECT_EQ(second->set_authorizer_order({{"Node", "node"}}).reason(), Reason::kServiceUnavailable);
}

class NoPeers final : public PeerServers {
 public:
  std::shared_ptr<HttpHandler> find(const RequestContext&, const Exchange&) override { return nullptr; }
  PeerDiscoveryRef discovery() const override { return nullptr; }
};

TEST_F(StagingHostTest, OnePluginKnowsThePeers) {
  auto first = host("core"), second = host("other");
  const auto peers = std::make_shared<NoPeers>();
  EXPECT_FALSE(first->register_peer_servers(nullptr).ok());
  ASSERT_TRUE(first->register_peer_servers(peers).ok());
  EXPECT_EQ(second->register_peer_servers(peers).message(), "peer servers is already registered by core");
  EXPECT_EQ(first->commit().peer_servers, peers);
}

class NoGate final : public RequestGate {
 public:
  GateAnswer enter(RequestContext&, Exchange&, GatePass&) override { return GateAnswer::kRefuse; }
  Task<bool> wait(RequestContext&, Exchange&, GatePass&) override { co_return false; }
  void leave(GatePass&) noexcept override {}
  std::vector<Metric::Snapshot> measured() const override { return {}; }
};

TEST_F(StagingHostTest, ThereIsPlaceForOneRequestGate) {
  auto first = host("flowcontrol"), second = host("other");
  const auto gate = std::make_shared<NoGate>();
  EXPECT_FALSE(first->register_request_gate(nullptr).ok());
  ASSERT_TRUE(first->register_request_gate(gate).ok());
  EXPECT_EQ(second->register_request_gate(gate).message(), "request gate is already registered by flowcontrol");
  EXPECT_EQ(first->commit().request_gate, gate);
  EXPECT_FALSE(first->register_request_gate(gate).ok()) << "too late";
  EXPECT_TRUE(first->stored_objects().empty());
  stored_ = {{{"", "pods"}, 3}};
  EXPECT_EQ(first->stored_objects().front().objects, 3u);
}

TEST_F(StagingHostTest, AMissingConversionIsFoundAtInstallAndNamesBothVersions) {
  auto plugin = host("core");
  ResourceConfig stored;
  stored.kind = {"g", "v2", "Thing"};
  stored.resource = "things";
  stored.strategy = std::make_shared<const Strategy>();
  auto kept = plugin->make_storage(stored);
  ASSERT_TRUE(kept.ok()) << kept.status().message();
  ResourceConfig view = stored;
  view.kind.version = "v1";
  view.stored_kind = stored.kind;
  view.schema = meta_schemas()->find(GroupVersionKind{"autoscaling", "v1", "Scale"});
  EXPECT_EQ(
      plugin->make_storage(view).status().message(),
      "resource \"things\": there is no conversion from g/v1, Kind=Thing to g/v2, Kind=Thing: add it to the Scheme before the storage "
      "is made");
  const auto nothing = [](Object&) { return Status(); };
  ASSERT_TRUE(plugin->scheme().add_conversion(view.kind, stored.kind, nothing).ok());
  EXPECT_EQ(
      plugin->make_storage(view).status().message(),
      "resource \"things\": there is no conversion from g/v2, Kind=Thing to g/v1, Kind=Thing: add it to the Scheme before the storage "
      "is made");
  ASSERT_TRUE(plugin->scheme().add_conversion(stored.kind, view.kind, nothing).ok());
  EXPECT_TRUE(plugin->make_storage(view).ok());
}

TEST_F(StagingHostTest, VersionsWithoutAnOrderStandInTheSchemes) {
  auto plugin = host("core");
  APIGroupInfo info = group_of({"things"});
  info.storages["v2"] = info.storages["v1"];
  info.prioritized_versions.clear();
  ASSERT_TRUE(plugin->scheme().set_version_priority("g", {"v3", "v2", "v1"}).ok());
  ASSERT_TRUE(plugin->install_api_group(std::move(info)).ok());
  const auto staged = plugin->commit();
  EXPECT_EQ(staged.target.groups.front().prioritized_versions, (std::vector<std::string>{"v2", "v1"}));
}

TEST_F(StagingHostTest, ARollbackReleasesNames) {
  {
    auto core = host("core");
    ASSERT_TRUE(core->handle(path("/metrics")).ok());
    names_.release("core");
  }
  EXPECT_TRUE(host("apps")->handle(path("/metrics")).ok());
}

TEST(TakenNames, ACopyIsUnaffectedByChangesOfTheOriginal) {
  TakenNames names(std::map<std::string, std::string>{{"path /healthz", "the host"}});
  ASSERT_TRUE(names.take("path", "/a", "core").ok());
  ASSERT_TRUE(names.take("path", "/b", "core").ok());
  ASSERT_TRUE(names.take("path", "/c", "apps").ok());
  const TakenNames copy = names, others = names.without("core");
  names.release("apps");
  EXPECT_EQ(names.registrant("path", "/c"), nullptr);
  ASSERT_NE(copy.registrant("path", "/c"), nullptr);
  EXPECT_EQ(*copy.registrant("path", "/c"), "apps");
  for (const char* path : {"/a", "/b"}) {
    EXPECT_EQ(others.registrant("path", path), nullptr);
    EXPECT_EQ(*copy.registrant("path", path), "core");
  }
  EXPECT_EQ(*others.registrant("path", "/healthz"), "the host");
}

TEST_F(StagingHostTest, CommitHandsOverWhatWasRegisteredAndEndsRegistration) {
  auto plugin = host("core");
  ASSERT_TRUE(plugin->handle(path("/metrics")).ok());
  ASSERT_TRUE(plugin->register_mux_and_discovery_complete_signal("CoreReady").ok());
  const auto staged = plugin->commit();
  EXPECT_EQ(staged.target.name, "core");
  EXPECT_EQ(staged.target.paths.size(), 1u);
  EXPECT_EQ(staged.target.mux_and_discovery_signals.count("CoreReady"), 1u);
  EXPECT_EQ(plugin->handle(path("/late")).reason(), Reason::kServiceUnavailable);
}

TEST_F(StagingHostTest, PublishedObjectsHoldTheGenerationUntilTheirLastUse) {
  NamedSignal unused("unused");
  Hold hold(this, [&unused](const void*) { unused.fire(); });
  auto plugin = host("core", hold);
  ASSERT_TRUE(plugin->handle(path("/metrics")).ok());
  ASSERT_TRUE(plugin->install_api_group(group_of({"things"})).ok());
  ASSERT_TRUE(plugin->add_pre_shutdown_hook("x", quiet_hook).ok());
  ASSERT_TRUE(plugin->add_health_check(std::make_shared<ThrowingCheck>(), {}).ok());
  auto staged = plugin->commit();
  hold.reset();
  EXPECT_FALSE(unused.fired());
  // A request holds its handler, a route table its storages.
  std::shared_ptr<HttpHandler> in_flight = staged.target.paths.front().handler;
  auto storage = staged.target.groups.front().storages["v1"]["things"];
  staged = {};
  EXPECT_FALSE(unused.fired());
  storage.reset();
  EXPECT_FALSE(unused.fired());
  in_flight.reset();
  EXPECT_TRUE(unused.fired());
}

TEST_F(StagingHostTest, GroupsArePublishedAfterCommitOnly) {
  auto plugin = host("apiextensions");
  auto groups = plugin->dynamic_groups();
  EXPECT_EQ(groups->change({}).reason(), Reason::kServiceUnavailable);
  EXPECT_TRUE(published_.empty());
  EXPECT_TRUE(plugin->commit().target.publishes_at_run_time);
  EXPECT_TRUE(groups->change({}).ok());
  EXPECT_EQ(published_, std::vector<std::string>{"apiextensions"});
}

TEST_F(StagingHostTest, PathsArePublishedAfterCommitOnlyAndByTheirPlugin) {
  auto plugin = host("aggregator");
  auto paths = plugin->dynamic_paths();
  EXPECT_EQ(paths->publish(path("/x")).reason(), Reason::kServiceUnavailable);
  EXPECT_EQ(paths->withdraw("/x").reason(), Reason::kServiceUnavailable);
  plugin->commit();
  EXPECT_EQ(paths->publish(path("x")).reason(), Reason::kBadRequest);
  EXPECT_TRUE(paths->publish(path("/x")).ok());
  EXPECT_TRUE(paths->withdraw("/x").ok());
  EXPECT_EQ(published_, (std::vector<std::string>{"aggregator /x", "aggregator not /x"}));
}

TEST_F(StagingHostTest, AGroupWithoutVersionsOrStoragesIsRefused) {
  auto plugin = host("core");
  EXPECT_EQ(plugin->install_api_group({.group = "g", .prioritized_versions = {}, .storages = {}, .schemas = {}}).reason(),
            Reason::kBadRequest);
  APIGroupInfo info;
  info.group = "g";
  info.prioritized_versions = {"v1"};
  EXPECT_EQ(plugin->install_api_group(info).message(), "API group version g/v1 has no storages");
  info.storages["v1"]["things"] = nullptr;
  EXPECT_EQ(plugin->install_api_group(info).message(), "API group version g/v1 has no storage for things");
}

TEST_F(StagingHostTest, AGroupThatCouldNotBeServedIsRefusedWithGroupAndPath) {
  auto plugin = host("core");
  const auto refused = [&](const APIGroupInfo& info) {
    const auto status = plugin->install_api_group(info);
    EXPECT_EQ(status.reason(), Reason::kBadRequest);
    return status.message();
  };
  EXPECT_EQ(refused(group_of({"Things"})), R"(API group version g/v1: resource names must be lowercase only, not "Things")");
  EXPECT_EQ(refused(group_of({"things/status"})), R"(API group version g/v1: missing parent storage: "things" of "things/status")");
  for (auto path : {"things/a/b", "things/", "/status", "", "things//"}) {
    EXPECT_EQ(refused(group_of({"things", path})),
              "API group version g/v1: only one or two segment paths are allowed (resource or resource/subresource), not " + quoted(path));
  }
  auto unscoped = group_of({});
  unscoped.storages["v1"]["things"] = std::make_shared<Thing>();
  EXPECT_EQ(refused(unscoped), R"(API group version g/v1: "things" must implement Scoper: is it namespaced?)");
  auto unlisted = group_of({"things"});
  unlisted.storages["v2"] = unlisted.storages["v1"];
  EXPECT_EQ(refused(unlisted), R"(API group version g/v2 has storages and is not in prioritized_versions: "things")");
  // The refused registrations above have not taken the name. A subresource needs no Scoper: it has the scope of its parent.
  auto good = group_of({"things"});
  good.storages["v1"]["things/status"] = std::make_shared<Thing>();
  EXPECT_TRUE(plugin->install_api_group(good).ok());
}

TEST_F(StagingHostTest, WhatCouldNotBeServedIsNotPublishedEither) {
  auto plugin = host("apiextensions");
  auto groups = plugin->dynamic_groups();
  plugin->commit();
  const auto refused = [&](PublishedResource wrong) {
    GroupsChange change;
    change.put = {resource_of("things", {"things"}), std::move(wrong)};
    return groups->change(std::move(change)).message();
  };
  auto null = resource_of("things", {"things"});
  null.versions[0].storages["things"] = nullptr;
  EXPECT_EQ(refused(null), "API group version g/v1 has no storage for things");
  EXPECT_EQ(refused(resource_of("things", {"things/status"})), "API group version g/v1 has no storage for things");
  EXPECT_EQ(refused(resource_of("things", {"things", "others"})), R"(API group version g/v1: "others" is no path of "things")");
  EXPECT_EQ(refused({"g", "things", {}, {}}), "the published resource things.g has no versions");
  GroupsChange silent;
  silent.forwarded = {{{"g", "v2"}, 100, 10, nullptr}};
  EXPECT_EQ(groups->change(std::move(silent)).message(), "API group version g/v2 has no handler");
  EXPECT_TRUE(published_.empty());
}

TEST_F(StagingHostTest, ResourcesThatArePublishedAtRunTimeAreTheSameObjectsInEachVersion) {
  auto plugin = host("core");
  const auto groups = plugin->dynamic_groups();
  plugin->commit();
  const EquivalentResources& known = plugin->equivalent_resources();
  const GroupVersionResource old_name{"g", "v1", "things"}, new_name{"g", "v2", "things"};
  const auto publish = [&](std::vector<std::string> versions) {
    GroupsChange change;
    PublishedResource things;
    things.group = "g";
    things.resource = "things";
    for (auto& version : versions) {
      const auto thing = std::make_shared<ScopedThing>();
      things.versions.push_back({std::move(version), {{"things", thing}, {"things/status", thing}}, nullptr});
    }
    change.put.push_back(std::move(things));
    EXPECT_TRUE(groups->change(std::move(change)).ok());
  };
  EXPECT_TRUE(known.kind_of(old_name, "").kind.empty());
  publish({"v1", "v2"});
  EXPECT_EQ(known.equivalents_of(old_name, ""), (std::vector<GroupVersionResource>{old_name, new_name}));
  EXPECT_EQ(known.equivalents_of(new_name, "status"), (std::vector<GroupVersionResource>{old_name, new_name}));
  EXPECT_EQ(known.kind_of(old_name, "").kind, "Thing");
  publish({"v2"});
  EXPECT_EQ(known.equivalents_of(new_name, ""), std::vector<GroupVersionResource>{new_name});
  EXPECT_TRUE(known.kind_of(old_name, "").kind.empty());
  refuse_changes_ = true;
  GroupsChange removal;
  removal.removed.push_back({"g", "things"});
  EXPECT_FALSE(groups->change(removal).ok());
  EXPECT_EQ(known.kind_of(new_name, "").kind, "Thing") << "what was refused changes nothing";
  refuse_changes_ = false;
  EXPECT_TRUE(groups->change(removal).ok());
  EXPECT_TRUE(known.kind_of(new_name, "").kind.empty());
}

TEST_F(StagingHostTest, ABlockedExecutorDoesNotStallThePluginsOtherExecutors) {
  loops_.start();
  auto plugin = host("core");
  EXPECT_NE(&plugin->executor("slow"), &plugin->executor());
  EXPECT_NE(&plugin->executor("slow"), &plugin->executor("other"));
  EXPECT_EQ(&plugin->executor("slow"), &plugin->executor("slow"));
  EXPECT_NE(&plugin->executor("slow"), &host("apps")->executor("slow"));
  std::promise<void> go, ran;
  plugin->executor("slow").post([&go] { go.get_future().wait(); });
  plugin->executor().post([&ran] { ran.set_value(); });
  ran.get_future().wait();
  go.set_value();
  EXPECT_TRUE(loops_.stop(std::chrono::hours(1)).empty());
}

TEST_F(StagingHostTest, NothingIsRefusedAndNotCalled) {
  auto plugin = host("core");
  EXPECT_EQ(plugin->add_post_start_hook("x", {}).message(), R"(hook func may not be nil: "x")");
  EXPECT_EQ(plugin->add_pre_shutdown_hook("x", {}).message(), R"(hook func may not be nil: "x")");
  EXPECT_EQ(plugin->add_health_check(nullptr, {}).message(), "a null health check cannot be registered");
  EXPECT_EQ(plugin->register_authenticator(nullptr).message(), "a null authenticator cannot be registered");
  EXPECT_EQ(plugin->register_authorizer(nullptr).message(), "a null authorizer cannot be registered");
  EXPECT_EQ(plugin->register_admission(std::shared_ptr<AdmissionPlugin>()).message(), "a null admission plugin cannot be registered");
  EXPECT_EQ(plugin->register_storage_backend("x", {}).message(), "a null storage backend factory cannot be registered");
  EXPECT_EQ(plugin->handle({"/x", false, true, nullptr}).reason(), Reason::kBadRequest);
  // Refused registrations have taken no name.
  EXPECT_TRUE(plugin->add_post_start_hook("x", [](PostStartHookContext) { return quiet_hook(); }).ok());
  EXPECT_TRUE(plugin->add_pre_shutdown_hook("x", quiet_hook).ok());
  plugin->on_group_versions_changed({});
  EXPECT_TRUE(plugin->commit().group_version_callbacks.empty());
}

TEST_F(StagingHostTest, AHookOrCheckThatThrowsReturnsAStatusWithAReadableMessage) {
  auto plugin = host("core");
  ASSERT_TRUE(plugin->add_post_start_hook("x", [](PostStartHookContext) { return throwing_hook(); }).ok());
  ASSERT_TRUE(plugin->add_pre_shutdown_hook("x", throwing_hook).ok());
  ASSERT_TRUE(plugin->add_pre_shutdown_hook("seven", []() -> Task<Status> { throw 7; }).ok());
  ASSERT_TRUE(plugin->add_health_check(std::make_shared<ThrowingCheck>(), {}).ok());
  auto staged = plugin->commit().target;
  const Status ended[] = {run_on(loop_, staged.post_start_hooks.at(0).hook({loop_, stop_})),
                          run_on(loop_, staged.pre_shutdown_hooks.at(0).hook()), run_on(loop_, staged.health_checks.at(0).check->check()),
                          run_on(loop_, staged.pre_shutdown_hooks.at(1).hook())};
  for (const auto& status : ended) EXPECT_EQ(status.reason(), Reason::kInternalError);
  EXPECT_EQ(staged.health_checks.at(0).check->group(), "fireworks") << "the fence drops nothing of a check";
  EXPECT_EQ(ended[0].message(), "PLG-LIFE-013 post-start hook x of plugin core threw: boom");
  EXPECT_EQ(ended[1].message(), "PLG-LIFE-013 pre-shutdown hook x of plugin core threw: boom");
  EXPECT_EQ(ended[2].message(), "PLG-LIFE-013 health check explosive of plugin core threw: boom");
  EXPECT_EQ(ended[3].message(), "PLG-LIFE-013 pre-shutdown hook seven of plugin core threw: an exception of type int");
}

TEST_F(StagingHostTest, ACallbackThatThrowsAffectsNoOtherCallback) {
  auto plugin = host("core");
  int called = 0;
  plugin->stop_signal().on_fire([] { throw std::runtime_error("boom"); });
  plugin->stop_signal().on_fire([&called] { ++called; });
  ASSERT_TRUE(plugin
                  ->add_post_start_hook("x",
                                        [](PostStartHookContext context) {
                                          context.stop.on_fire([] { throw 7; });
                                          return quiet_hook();
                                        })
                  .ok());
  plugin->on_group_versions_changed([](const GroupVersionsChange&) { throw std::runtime_error("boom"); });
  auto staged = plugin->commit();
  EXPECT_TRUE(run_on(loop_, staged.target.post_start_hooks.at(0).hook({loop_, stop_})).ok());
  stop_.fire();
  EXPECT_EQ(called, 1) << "those behind a callback that throws run all the same";
}

TEST_F(StagingHostTest, AStorageFactoryThatThrowsOrMakesNothingIsAnErrorThatNamesThePlugin) {
  auto plugin = host("example.com/disk");
  ASSERT_TRUE(
      plugin
          ->register_storage_backend(
              "bad", [](const StorageBackendConfig&) -> Result<std::unique_ptr<StorageBackend>> { throw std::runtime_error("no disk"); })
          .ok());
  ASSERT_TRUE(plugin
                  ->register_storage_backend("none",
                                             [](const StorageBackendConfig&) {
                                               return Result<std::unique_ptr<StorageBackend>>(std::unique_ptr<StorageBackend>());
                                             })
                  .ok());
  const auto staged = plugin->commit();
  EXPECT_EQ(staged.storage_backends.at("bad")({}).status().message(),
            R"(the factory of the storage backend "bad" of plugin example.com/disk threw: no disk)");
  EXPECT_EQ(staged.storage_backends.at("none")({}).status().message(),
            R"(the factory of the storage backend "none" of plugin example.com/disk made nothing)");
}

TEST_F(StagingHostTest, AFunctionThatThrowsDoesNotStopLaterFunctionsOfItsExecutor) {
  loops_.start();
  auto plugin = host("core");
  std::promise<void> ran;
  plugin->executor().post([] { throw std::runtime_error("posted"); });
  plugin->executor().after(std::chrono::nanoseconds(1), [] { throw 7; });
  plugin->executor().after(std::chrono::milliseconds(1), [&ran] { ran.set_value(); });
  ran.get_future().wait();
  EXPECT_TRUE(loops_.stop(std::chrono::hours(1)).empty());
}

}  // namespace
}  // namespace backplane
