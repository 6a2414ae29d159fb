#include "plugin/staging_host.hpp"

#include <gtest/gtest.h>

#include "base/io_loop.hpp"

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

class StagingHostTest : public ::testing::Test {
 protected:
  StagingHostTest() { loop_.start(); }
  ~StagingHostTest() override { loop_.stop(); }

  std::unique_ptr<StagingHost> host(const std::string& plugin) { return std::make_unique<StagingHost>(plugin, services_, names_); }
  PathRoute path(std::string text) { return PathRoute{std::move(text), false, true, std::make_shared<NoHandler>()}; }

  IoLoop loop_{"test"};
  StoreEnvironment stores_;
  TaskGroup tasks_;
  NamedSignal stop_{"stop"};
  std::vector<std::string> published_;
  HostServices services_{stores_,
                         loop_,
                         tasks_,
                         stop_,
                         {},
                         {},
                         {},
                         [this](const std::string& delegate, std::vector<APIGroupInfo>) {
                           published_.push_back(delegate);
                           return Status();
                         },
                         {},
                         {},
                         {{"path /healthz", "the host"}}};
  TakenNames names_{services_.taken};
};

TEST_F(StagingHostTest, ADuplicateNameIsRefusedAndNamesTheFirstRegistrant) {
  auto core = host("core"), apps = host("apps");
  ASSERT_TRUE(core->handle(path("/metrics")).ok());
  auto status = apps->handle(path("/metrics"));
  EXPECT_EQ(status.reason(), Reason::kAlreadyExists);
  EXPECT_EQ(status.message(), "path /metrics is already registered by core");
  EXPECT_EQ(apps->handle(path("/healthz")).message(), "path /healthz is already registered by the host");
  ASSERT_TRUE(core->add_pre_shutdown_hook("x", {}).ok());
  EXPECT_EQ(apps->add_pre_shutdown_hook("x", {}).message(), "preshutdownhook x is already registered by core");
}

TEST_F(StagingHostTest, WhatIsRolledBackGivesItsNamesBack) {
  {
    auto core = host("core");
    ASSERT_TRUE(core->handle(path("/metrics")).ok());
    names_.give_back("core");
  }
  EXPECT_TRUE(host("apps")->handle(path("/metrics")).ok());
}

TEST_F(StagingHostTest, CommitHandsOverWhatWasRegisteredAndEndsRegistration) {
  auto plugin = host("core");
  ASSERT_TRUE(plugin->handle(path("/metrics")).ok());
  ASSERT_TRUE(plugin->register_mux_and_discovery_complete_signal("CoreReady").ok());
  Scheme scheme;
  const auto staged = plugin->commit(scheme);
  EXPECT_EQ(staged.target.name, "core");
  EXPECT_EQ(staged.target.paths.size(), 1u);
  EXPECT_EQ(staged.target.mux_and_discovery_signals.count("CoreReady"), 1u);
  EXPECT_EQ(plugin->handle(path("/late")).reason(), Reason::kServiceUnavailable);
  EXPECT_EQ(&plugin->scheme(), &scheme);
}

TEST_F(StagingHostTest, GroupsArePublishedAfterCommitOnly) {
  auto plugin = host("apiextensions");
  auto groups = plugin->dynamic_groups();
  EXPECT_EQ(groups->publish({}).reason(), Reason::kServiceUnavailable);
  EXPECT_TRUE(published_.empty());
  Scheme scheme;
  EXPECT_TRUE(plugin->commit(scheme).target.publishes_at_run_time);
  EXPECT_TRUE(groups->publish({}).ok());
  EXPECT_EQ(published_, std::vector<std::string>{"apiextensions"});
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

TEST_F(StagingHostTest, AHookThatThrowsGivesAStatusWithACode) {
  auto plugin = host("core");
  ASSERT_TRUE(plugin->add_pre_shutdown_hook("x", [] { return throwing_hook(); }).ok());
  Scheme scheme;
  auto staged = plugin->commit(scheme);
  const auto status = run_on(loop_, staged.target.pre_shutdown_hooks.at(0).hook());
  EXPECT_EQ(status.reason(), Reason::kInternalError);
  EXPECT_NE(status.message().find("PLG-LIFE-013"), std::string::npos);
  EXPECT_NE(status.message().find("boom"), std::string::npos);
}

}  // namespace
}  // namespace backplane
