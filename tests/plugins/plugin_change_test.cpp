// Replaces or withdraws one plugin of a PluginRegistry. After a fault in any step, the registered objects are unchanged, and those of the
// new build are destroyed.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <latch>
#include <thread>

#include "shared_object.hpp"

namespace backplane {
namespace {

using Names = std::vector<std::string>;

class PluginChanges : public ::testing::Test {
 protected:
  void add(const std::string& name, const std::string& act, const std::string& more = {}) {
    SharedObject().manifest(manifest_of(name, more)).write(plugins_ / (name + ".so"));
    services_.configurations[name] = act;
  }
  void start(const Names& disabled = {}) {
    auto loaded = services_.load({{plugins_.path()}, disabled, {}, copies_.path()});
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    registry_ = std::move(loaded->registry);
    RetireLimits limits;
    limits.code = std::chrono::nanoseconds(0);
    registry_->use_limits(limits);
    registry_->start_loops();
    services_.calls.clear();
  }
  // Writes a new build of `name`, which executes `act`, and returns its path.
  std::string build(const std::string& name, const std::string& act, const std::string& more = {}) {
    SharedObject().manifest(manifest_of(name, more, "2.0.0")).write(builds_ / (name + ".so"));
    services_.configurations[name] = act;
    return builds_ / (name + ".so");
  }
  Status replace(const std::string& name, const std::string& file) {
    auto change = registry_->stage_replacement(name, file);
    if (!change.ok()) return std::move(change.status());
    Status committed = registry_->commit(*change, std::chrono::seconds(10));
    if (committed.ok()) {
      registry_->enter(std::move(*change));
    } else {
      registry_->abandon_change(std::move(*change));
    }
    return committed;
  }
  bool settled() { return registry_->wait_retired(std::chrono::seconds(60)); }
  // If the event never happens, the test's time limit ends the wait.
  void wait_unmapped(std::size_t generations) const {
    while (registry_->generations_unmapped() < generations) std::this_thread::yield();
  }
  std::size_t copies() const {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(copies_.path())) count += entry.path().extension() == ".so";
    return count;
  }

  TestServices services_;  // declared before registry_, so that it is destroyed after it
  TemporaryDirectory plugins_, copies_, builds_;
  std::unique_ptr<PluginRegistry> registry_;
};

TEST_F(PluginChanges, ANewBuildTakesThePlaceOfTheFormerOne) {
  add("core", "path=/core");
  add("apps", "path=/apps", R"("requires":[{"name":"core"}])");
  start();
  const auto before = registry_->rows();
  ASSERT_TRUE(replace("apps", build("apps", "path=/apps;path=/more", R"("requires":[{"name":"core"}])")).ok());
  const auto after = registry_->rows();
  EXPECT_EQ(names_of(after->delegates), names_of(before->delegates));
  EXPECT_EQ(after->delegates[0]->paths.size(), 2u);
  EXPECT_EQ(after->delegates[1], before->delegates[1]) << "other plugins keep their rows";
}

// A thread that is not joined keeps its stack: two mappings, and 20 KB of memory.
TEST_F(PluginChanges, FormerBuildsLeaveNoThreadsBehind) {
  const auto mappings = [] {
    std::ifstream maps("/proc/self/maps");
    return std::count(std::istreambuf_iterator<char>(maps), {}, '\n');
  };
  add("apps", "path=/apps");
  start();
  const auto replaced = [&](std::size_t times) {
    for (std::size_t i = 0; i < times; ++i) {
      const std::size_t ended = registry_->generations_unmapped();
      ASSERT_TRUE(replace("apps", build("apps", "path=/apps")).ok());
      wait_unmapped(ended + 1);
    }
  };
  replaced(5);
  const auto before = mappings();
  replaced(40);
  EXPECT_LT(mappings(), before + 40);
}

TEST_F(PluginChanges, TheFormerBuildIsDestroyedAndUnmappedWithItsLastUse) {
  add("apps", "path=/apps");
  start();
  auto in_flight = registry_->rows()->delegates[0]->paths[0].handler;
  ASSERT_TRUE(replace("apps", build("apps", "path=/new")).ok());
  EXPECT_FALSE(registry_->wait_retired(std::chrono::milliseconds(50))) << "a request still uses the former build";
  EXPECT_EQ(copies(), 3u) << "the running build, the former one and its file for a rollback";
  in_flight.reset();
  ASSERT_TRUE(settled());
  EXPECT_EQ(services_.calls.back(), "destroy/path=/apps");
  wait_unmapped(1);
  EXPECT_EQ(copies(), 2u) << "the running build, and the former one's file for a rollback";
}

// Regression: if a thread was not scheduled for 100 ms and so did not report whether it runs the code, the code stayed mapped forever.
TEST_F(PluginChanges, CodeIsUnmappedLaterIfAThreadDoesNotAnswer) {
  add("apps", "path=/apps");
  start();
  std::latch blocked(1), seen(1);
  std::thread silent([&] {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    blocked.count_down();
    seen.wait();
  });
  blocked.wait();
  EXPECT_TRUE(replace("apps", build("apps", "path=/new")).ok());
  EXPECT_TRUE(settled());
  EXPECT_EQ(registry_->generations_unmapped(), 0u);
  seen.count_down();
  silent.join();
  wait_unmapped(1);
}

TEST_F(PluginChanges, AFaultInAnyStepRollsBack) {
  add("core", "path=/core;kind=example.com/v1/Thing");
  add("apps", "path=/apps");
  start();
  const auto before = registry_->rows();
  for (const char* act : {"throw in configure", "fail in provision", "throw in provision", "fail in validate", "path=/core",
                          "start=never-ready", "path=/apps;kind=example.com/v1/Thing"}) {
    EXPECT_FALSE(replace("apps", build("apps", act)).ok()) << act;
    ASSERT_TRUE(settled()) << act;
    EXPECT_EQ(registry_->rows(), before) << act;
    const bool unknown_host = std::string_view(act) == "throw in configure";  // it cannot detect this
    EXPECT_TRUE(unknown_host || services_.calls.back() == std::string("destroy/") + act) << act;
    EXPECT_EQ(copies(), 2u) << act;
  }
  EXPECT_TRUE(replace("apps", build("apps", "path=/apps")).ok()) << "nothing of the failed builds has kept its name";
}

TEST_F(PluginChanges, PluginsThatDependOnItAreReplacedWithIt) {
  add("core", "path=/core;stop=core");
  add("apps", "path=/apps;stop=apps", R"("requires":[{"name":"core"}])");
  add("more", "path=/more;stop=more", R"("requires":[{"name":"apps"}])");
  add("guest", "path=/guest;stop=guest", R"("requires":[{"name":"core","optional":true}])");
  add("other", "path=/other");
  start();
  const Executor* const other = registry_->executor_of("other");
  const Names order = names_of(registry_->rows()->delegates);
  ASSERT_TRUE(replace("core", build("core", "path=/core;path=/core2;stop=core")).ok());
  ASSERT_TRUE(settled());
  EXPECT_EQ(names_of(registry_->rows()->delegates), order);
  for (const char* each : {"core", "apps", "more", "guest"}) EXPECT_EQ(registry_->status_of(each)->build, 2u) << each;
  EXPECT_EQ(registry_->status_of("other")->build, 1u) << "it has nothing of core";
  EXPECT_EQ(registry_->executor_of("other"), other);
  EXPECT_EQ(registry_->status_of("apps")->former_version, "") << "its build is the same, so there is nothing to return to";
  std::vector<std::string> stopped;
  for (const auto& each : services_.calls) {
    if (each.starts_with("stop/")) stopped.push_back(each.substr(5));
  }
  ASSERT_EQ(stopped.size(), 4u);
  EXPECT_EQ(stopped.back(), "core") << "the plugins that use it end first";
  const auto place = [&](const char* name) { return std::find(stopped.begin(), stopped.end(), name); };
  EXPECT_LT(place("more"), place("apps"));
  EXPECT_TRUE(replace("core", build("core", "path=/core")).ok()) << "again";
}

TEST_F(PluginChanges, ADependantThatFailsRollsBackTheWholeChange) {
  add("core", "path=/core");
  add("apps", "path=/apps", R"("requires":[{"name":"core"}])");
  start();
  const auto before = registry_->rows();
  for (const char* act : {"fail in provision", "fail in validate", "start=never-ready"}) {
    const std::string file = build("core", "path=/core");
    services_.configurations["apps"] = act;
    const Status refused = replace("core", file);
    EXPECT_NE(refused.message().find(R"(plugin "apps")"), std::string::npos) << refused.message();
    ASSERT_TRUE(settled()) << act;
    EXPECT_EQ(registry_->rows(), before) << act;
  }
  services_.configurations["apps"] = "path=/apps";
  EXPECT_TRUE(replace("core", build("core", "path=/core")).ok()) << "nothing of the failed builds has kept its name";
}

TEST_F(PluginChanges, ARequiredPluginIsWithdrawnWithItsDependentsOrNotAtAll) {
  add("core", "path=/core");
  add("apps", "path=/apps", R"("requires":[{"name":"core"}])");
  add("more", "path=/more", R"("requires":[{"name":"apps"}])");
  add("guest", "path=/guest", R"("requires":[{"name":"core","optional":true}])");
  start();
  EXPECT_EQ(registry_->stage_withdrawal("core").status().message(),
            R"(plugin "core" is not disabled: plugins "apps", "more" require it; disable them first, or together with it: --cascade)");
  EXPECT_EQ(registry_->stage_withdrawal("apps").status().message(),
            R"(plugin "apps" is not disabled: plugin "more" requires it; disable it first, or together with it: --cascade)");
  auto change = registry_->stage_withdrawal("core", true);
  ASSERT_TRUE(change.ok()) << change.status().message();
  EXPECT_EQ(change->dependants(true), "apps, more");
  EXPECT_EQ(change->dependants(false), "guest");
  ASSERT_TRUE(registry_->commit(*change, std::chrono::seconds(10)).ok());
  registry_->enter(std::move(*change));
  ASSERT_TRUE(settled());
  EXPECT_EQ(names_of(registry_->rows()->delegates), Names{"guest"});
  EXPECT_EQ(registry_->status_of("apps")->state, PluginState::kDisabled);
  EXPECT_EQ(registry_->status_of("guest")->build, 2u) << "it had objects of core";
  EXPECT_TRUE(replace("guest", build("guest", "path=/core")).ok()) << "the name is free";
}

TEST_F(PluginChanges, WhatCannotBeChangedIsRefusedWithTheReason) {
  add("core", "path=/core");
  add("apps", "path=/apps", R"("requires":[{"name":"core"}])");
  add("dynamic", "dynamic groups", R"("requires":[{"name":"core"}])");
  start();
  EXPECT_EQ(replace("core", build("core", "path=/core")).message(),
            R"(plugin "core" cannot be changed while the server runs: plugin "dynamic" requires it; )"
            R"(plugin "dynamic" cannot be changed while the server runs: it publishes groups at run time)");
  EXPECT_FALSE(registry_->stage_withdrawal("core", true).ok());
  EXPECT_EQ(replace("absent", build("apps", "path=/x")).code(), 404);
  EXPECT_NE(replace("apps", build("core", "path=/x")).message().find(R"(is plugin "core", not "apps")"), std::string::npos);
  EXPECT_FALSE(replace("apps", builds_ / "none.so").ok());
  services_.configurations["apps"] = "path=/apps";
  EXPECT_FALSE(replace("apps", build("apps", "path=/apps", R"("requires":[{"name":"absent"}])")).ok()) << "the plan has no place for it";
}

TEST_F(PluginChanges, ANewPluginMayUseTheNamesOfAWithdrawnOne) {
  add("core", "path=/core");
  add("apps", "path=/apps");
  start();
  auto change = registry_->stage_withdrawal("apps");
  ASSERT_TRUE(change.ok()) << change.status().message();
  ASSERT_TRUE(registry_->commit(*change, std::chrono::seconds(10)).ok());
  registry_->enter(std::move(*change));
  ASSERT_TRUE(settled());
  EXPECT_EQ(names_of(registry_->rows()->delegates), Names{"core"});
  EXPECT_EQ(registry_->executor_of("apps"), nullptr);
  EXPECT_TRUE(replace("core", build("core", "path=/apps")).ok());
}

TEST_F(PluginChanges, AnAdditionThatRequiresAWithdrawnPluginIsRefusedWithItsName) {
  add("core", "path=/core", R"("provides":["lookup"])");
  add("apps", "path=/apps", R"("requires":[{"name":"lookup"}])");
  start();
  auto change = registry_->stage_withdrawal("core", true);
  ASSERT_TRUE(change.ok()) << change.status().message();
  ASSERT_TRUE(registry_->commit(*change, std::chrono::seconds(10)).ok());
  registry_->enter(std::move(*change));
  ASSERT_TRUE(settled());
  EXPECT_EQ(registry_->status_of("apps")->last_operation, PluginOperation::kDisabled);
  const Status refused = registry_->stage_addition("apps", plugins_ / "apps.so").status();
  EXPECT_NE(refused.message().find("PLG-DEP-003 requires[0]: does not run because of what it requires"), std::string::npos)
      << refused.message();
  EXPECT_NE(refused.message().find("found apps ← core: Disabled (in a running server: backplane plugin enable core;"), std::string::npos)
      << refused.message();
}

// Adds a plugin as `plugin enable` does after --disable-plugin, and as the end of a quarantine does.
TEST_F(PluginChanges, AnAddedPluginThatWasDisabledAtStartupDoesNotPreventChangesOfOthers) {
  add("core", "path=/core");
  add("apps", "path=/apps");
  start({"apps"});
  EXPECT_EQ(names_of(registry_->rows()->delegates), Names{"core"});
  auto change = registry_->stage_addition("apps", plugins_ / "apps.so");
  ASSERT_TRUE(change.ok()) << change.status().message();
  ASSERT_TRUE(registry_->commit(*change, std::chrono::seconds(10)).ok());
  registry_->enter(std::move(*change));
  const Status replaced = replace("core", build("core", "path=/core"));
  EXPECT_TRUE(replaced.ok()) << replaced.message();
  EXPECT_EQ(names_of(registry_->rows()->delegates).size(), 2u);
  EXPECT_TRUE(settled());
}

}  // namespace
}  // namespace backplane
