// Plugins with valid files that fail in dependency resolution or in a life-cycle call. Each is reported with an error code and rolled back,
// and the other plugins run.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "plugin/content_digest.hpp"
#include "plugin/loader.hpp"
#include "shared_object.hpp"

namespace backplane {
namespace {

using Names = std::vector<std::string>;

class WrongPlugins : public ::testing::Test {
 protected:
  // Writes an actor under this name that executes `act`.
  void add(const std::string& name, const std::string& act = {}, const std::string& more = {}, const std::string& version = "1.0.0") {
    SharedObject().manifest(manifest_of(name, more, version)).write(plugins_ / (name + ".so"));
    services_.configurations[name] = act;
  }
  PluginSet load(Names disabled = {}, Names required = {}) {
    auto result = services_.load({{plugins_.path()}, std::move(disabled), std::move(required), copies_.path()});
    EXPECT_TRUE(result.ok()) << result.status().message();
    return result.ok() ? std::move(result).value() : PluginSet();
  }
  std::string code(const PluginSet& set, const std::string& name) { return report_of(set, name).code; }

  TestServices services_;  // must exist as long as every PluginSet of a test
  TemporaryDirectory plugins_, copies_;
};

TEST_F(WrongPlugins, GoodOnesAreCommittedFromPrivateCopiesAndGoneAfterwards) {
  add("core", "group=core.example.com/v1;path=/core");
  add("apps", "group=apps.example.com/v1", R"("requires":[{"name":"core","version":"^1"}])");
  {
    const auto set = load();
    EXPECT_EQ(names_of(set.delegates), (Names{"apps", "core"}));
    ASSERT_EQ(set.delegates[1]->groups.size(), 1u);
    EXPECT_EQ(set.delegates[1]->paths.size(), 1u);
    EXPECT_EQ(report_of(set, "core").state, PluginState::kCommitted);
    EXPECT_EQ(services_.calls, (Names{"provision/group=core.example.com/v1;path=/core", "provision/group=apps.example.com/v1",
                                      "validate/group=core.example.com/v1;path=/core", "validate/group=apps.example.com/v1"}));
    std::ifstream maps("/proc/self/maps");
    bool copy_is_mapped = false;
    for (std::string line; std::getline(maps, line);) {
      EXPECT_EQ(line.find(plugins_.path()), std::string::npos) << "the installed file is mapped: " << line;
      copy_is_mapped = copy_is_mapped || line.find(copies_.path()) != std::string::npos;
    }
    EXPECT_TRUE(copy_is_mapped);
    services_.calls.clear();
  }
  EXPECT_EQ(services_.calls, (Names{"destroy/group=apps.example.com/v1", "destroy/group=core.example.com/v1;path=/core"}));
  EXPECT_TRUE(std::filesystem::is_empty(copies_.path()));
}

TEST_F(WrongPlugins, EachFailureOfALifecycleCallHasItsCodeAndTheRestRuns) {
  const std::vector<std::pair<std::string, std::string_view>> rows{
      {"fail in configure", finding_code::kConfigureFailed},  {"throw in configure", finding_code::kConfigureThrew},
      {"fail in provision", finding_code::kProvisionFailed},  {"throw in provision", finding_code::kProvisionThrew},
      {"fail in validate", finding_code::kValidateFailed},    {"throw in validate", finding_code::kValidateThrew},
      {"throw 7 in provision", finding_code::kProvisionThrew}};
  for (std::size_t i = 0; i < rows.size(); ++i) add("wrong" + std::to_string(i), rows[i].first);
  add("good", "group=good.example.com/v1");
  const auto set = load();
  EXPECT_EQ(names_of(set.delegates), Names{"good"});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& row = report_of(set, "wrong" + std::to_string(i));
    EXPECT_EQ(row.code, rows[i].second) << rows[i].first;
    EXPECT_EQ(row.state, PluginState::kFailed);
  }
  EXPECT_NE(report_of(set, "wrong3").message.find("thrown in provision"), std::string::npos);
}

TEST_F(WrongPlugins, ConstructorsThatThrowAndEntryPointsThatGiveNothing) {
  SharedObject("actor_throws").manifest(manifest_of("throws")).write(plugins_ / "throws.so");
  SharedObject("actor_null").manifest(manifest_of("null")).write(plugins_ / "null.so");
  add("good");
  const auto set = load();
  EXPECT_EQ(code(set, "throws"), finding_code::kCreateThrew);
  EXPECT_NE(report_of(set, "throws").message.find("has had enough"), std::string::npos);
  EXPECT_EQ(code(set, "null"), finding_code::kCreateNull);
  EXPECT_EQ(names_of(set.delegates), Names{"good"});
}

TEST_F(WrongPlugins, AnUndefinedSymbolIsNamedBeforeAnyCodeRuns) {
  SharedObject().manifest(manifest_of("lost")).replace("_ZTIN9backplane6PluginE", "_ZTIN9backplane6PlugonE").write(plugins_ / "lost.so");
  add("good");
  const auto set = load();
  EXPECT_EQ(code(set, "lost"), finding_code::kUndefinedSymbol);
  EXPECT_EQ(report_of(set, "lost").findings[0].found, "typeinfo for backplane::Plugon");
  EXPECT_EQ(names_of(set.delegates), Names{"good"});
}

TEST_F(WrongPlugins, AMissingEntryPointIsAlsoFoundWhereTheFileHasNoSectionTable) {
  SharedObject object;
  object.manifest(manifest_of("stripped")).replace("backplane_plugin_create", "backplane_plugin_creatf");
  object.poke(60, static_cast<std::uint16_t>(0));  // e_shnum
  object.write(plugins_ / "stripped.so");
  EXPECT_EQ(code(load(), "stripped"), finding_code::kEntryMissing);
}

TEST_F(WrongPlugins, ADuplicateGroupOrPathFailsTheSecondAndNamesTheFirst) {
  add("first", "group=same.example.com/v1;path=/same");
  add("second", "group=same.example.com/v1");
  add("third", "path=/same");
  add("fourth", "path=/healthz");
  const auto set = load();
  EXPECT_EQ(names_of(set.delegates), Names{"first"});
  for (auto name : {"second", "third", "fourth"}) EXPECT_EQ(code(set, name), finding_code::kDuplicateRegistration) << name;
  EXPECT_NE(report_of(set, "second").message.find("group version same.example.com/v1 is already registered by first"), std::string::npos);
  EXPECT_NE(report_of(set, "third").message.find("path /same is already registered by first"), std::string::npos);
  EXPECT_NE(report_of(set, "fourth").message.find("by the host"), std::string::npos);
}

TEST_F(WrongPlugins, WhatAFailedPluginHadRegisteredIsFreeAgain) {
  add("a", "path=/same;fail in provision");
  add("b", "path=/same");
  const auto set = load();
  EXPECT_EQ(names_of(set.delegates), Names{"b"});
}

TEST_F(WrongPlugins, AFailureInValidateRollsBackOnlyItsDependentsInReverseOrder) {
  add("base", "fail in validate");
  add("middle", "m", R"("requires":[{"name":"base"}])");
  add("top", "t", R"("requires":[{"name":"middle"}])");
  add("other", "o");
  const auto set = load();
  EXPECT_EQ(names_of(set.delegates), Names{"other"});
  EXPECT_EQ(report_of(set, "top").state, PluginState::kBlocked);
  EXPECT_EQ(report_of(set, "top").findings[0].found, "top ← middle ← base: PLG-LIFE-010");
  Names destroyed;
  for (const auto& line : services_.calls) {
    if (line.starts_with("destroy/")) destroyed.push_back(line.substr(8));
  }
  EXPECT_EQ(destroyed, (Names{"t", "m", "fail in validate"}));
}

TEST_F(WrongPlugins, PlansThatCannotBe) {
  add("needs-ghost", {}, R"("requires":[{"name":"ghost","version":"^1"}])");
  add("needs-newer", {}, R"("requires":[{"name":"good","version":"^2"}])");
  add("ring-a", {}, R"("requires":[{"name":"ring-b"}])");
  add("ring-b", {}, R"("requires":[{"name":"ring-a"}])");
  add("rival", {}, R"("conflicts":["good"])");
  add("good", "g");
  SharedObject().manifest(manifest_of("good")).write(plugins_ / "zz-again.so");
  const auto set = load();
  EXPECT_EQ(names_of(set.delegates), Names{"good"});
  EXPECT_EQ(code(set, "needs-ghost"), finding_code::kMissing);
  EXPECT_EQ(code(set, "needs-newer"), finding_code::kOutOfRange);
  EXPECT_EQ(code(set, "ring-a"), finding_code::kDependencyCycle);
  EXPECT_EQ(code(set, "ring-b"), finding_code::kDependencyCycle);
  EXPECT_EQ(code(set, "rival"), finding_code::kConflict);
  EXPECT_EQ(set.report.back().code, finding_code::kDuplicateName);
}

TEST_F(WrongPlugins, ADirectoryFullOfThemStopsNoValidPlugin) {
  ::mkfifo((plugins_ / "fifo.so").c_str(), 0600);
  ::mkdir((plugins_ / "directory.so").c_str(), 0700);
  std::filesystem::create_symlink("nowhere", plugins_ / "dangling.so");
  std::ofstream(plugins_ / "text.so") << "not a library";
  SharedObject cut;
  cut.bytes.resize(9000);
  cut.write(plugins_ / "truncated.so");
  SharedObject().head([](bp_note_head& h) { h.boost_version = 1; }).write(plugins_ / "old-boost.so");
  add("good", "group=good.example.com/v1");
  const auto set = load();
  EXPECT_EQ(names_of(set.delegates), Names{"good"});
  EXPECT_EQ(code(set, "fifo.so"), finding_code::kNotRegular);
  EXPECT_EQ(code(set, "directory.so"), finding_code::kDirectory);
  EXPECT_EQ(code(set, "dangling.so"), finding_code::kDanglingLink);
  EXPECT_EQ(code(set, "text.so"), finding_code::kNotElf);
  EXPECT_EQ(code(set, "truncated.so"), finding_code::kTruncated);
  EXPECT_EQ(code(set, "actor"), finding_code::kBoostVersion);
}

TEST_F(WrongPlugins, ARequiredPluginThatFailsMakesStartupFailWithTheReason) {
  add("core", "throw in provision");
  add("good");
  auto result = services_.load({{plugins_.path()}, {}, {"core"}, copies_.path()});
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.status().message().find("PLG-PLAN-005"), std::string::npos);
  EXPECT_NE(result.status().message().find("PLG-LIFE-009"), std::string::npos);
  EXPECT_NE(result.status().message().find("thrown in provision"), std::string::npos);
  EXPECT_TRUE(std::filesystem::is_empty(copies_.path()));
}

TEST_F(WrongPlugins, ADisabledOneIsNotLoaded) {
  add("core", "c");
  add("extra", "e");
  const auto set = load({"extra"});
  EXPECT_EQ(names_of(set.delegates), Names{"core"});
  EXPECT_EQ(report_of(set, "extra").state, PluginState::kDisabled);
  EXPECT_EQ(services_.calls, (Names{"provision/c", "validate/c"}));
}

TEST_F(WrongPlugins, AMissingDirectoryIsReportedAndStopsNoPlugin) {
  auto result = services_.load({{plugins_ / "absent"}, {}, {}, copies_.path()});
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(result->report.empty());
  ASSERT_EQ(result->general.size(), 1u);
  EXPECT_EQ(result->general[0].code, finding_code::kCannotReadDirectory);
}

TEST_F(WrongPlugins, AnInvalidPluginInTheChainDoesNotExcludeTheOthers) {
  add("core", "c");
  add("apps", "a", R"("behind":["core"])");
  add("evil", "e", R"("in_front_of":["core"],"behind":["apps"])");
  const auto set = load();
  EXPECT_EQ(names_of(set.delegates), (Names{"core", "apps"}));
  EXPECT_EQ(code(set, "evil"), finding_code::kOrderCycle);
}

TEST_F(WrongPlugins, FilesOfOneNameInTwoDirectoriesAreTwoPlugins) {
  TemporaryDirectory more;
  SharedObject().manifest(manifest_of("example.com/one")).write(plugins_ / "plugin.so");
  SharedObject().manifest(manifest_of("example.com/two")).write(more / "plugin.so");
  auto result = services_.load({{plugins_.path(), more.path(), plugins_.path()}, {}, {}, copies_.path()});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(names_of(result->delegates), (Names{"example.com/one", "example.com/two"}));
  EXPECT_EQ(result->report.size(), 2u);
}

TEST_F(WrongPlugins, ALibraryThatIsMissingIsNamed) {
  SharedObject().manifest(manifest_of("lonely")).replace("libbackplane-sdk.so", "libbackplane-sdq.so").write(plugins_ / "lonely.so");
  add("good");
  const auto set = load();
  EXPECT_EQ(code(set, "lonely"), finding_code::kLoadFailed);
  EXPECT_NE(report_of(set, "lonely").message.find("libbackplane-sdq.so"), std::string::npos) << report_of(set, "lonely").message;
  EXPECT_EQ(names_of(set.delegates), Names{"good"});
}

TEST_F(WrongPlugins, AFileThatChangesAfterItsInspectionIsNotLoaded) {
  add("core");
  const auto inspected = inspect_plugin(plugins_ / "core.so");
  auto directory = GenerationDirectory::create(copies_.path());
  ASSERT_TRUE(directory.ok());
  SharedObject().manifest(manifest_of("core", R"("conflicts":["good"])")).write(plugins_ / "core.so");
  Findings findings;
  EXPECT_FALSE(load_plugin(inspected, *directory, findings));
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].code, finding_code::kChanged);
  findings.clear();
  std::filesystem::remove(plugins_ / "core.so");
  EXPECT_FALSE(load_plugin(inspected, *directory, findings));
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].code, finding_code::kCannotOpen);
}

// The loader skips the check of a file's documents only for the bytes that were checked.
TEST_F(WrongPlugins, AFileWithAnotherDigestThanTheCheckedOneIsNotLoaded) {
  add("core");
  auto inspected = inspect_plugin(plugins_ / "core.so");
  auto directory = GenerationDirectory::create(copies_.path());
  ASSERT_TRUE(directory.ok());
  inspected.checked_digest = "another";
  Findings findings;
  EXPECT_FALSE(load_plugin(inspected, *directory, findings));
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].code, finding_code::kChanged);
  findings.clear();
  inspected.checked_digest = *content_digest(plugins_ / "core.so");
  EXPECT_TRUE(load_plugin(inspected, *directory, findings));
}

TEST_F(WrongPlugins, AKindRegisteredTwiceFailsTheSecondAndWhatRequiresIt) {
  add("first", "kind=example.com/v1/Thing");
  add("second", "kind=example.com/v1/Thing;path=/second");
  add("third", "t", R"("requires":[{"name":"second"}])");
  add("twice", "kind=other.example.com/v1/Thing;kind=other.example.com/v1/Thing");
  const auto set = load();
  EXPECT_EQ(names_of(set.delegates), Names{"first"});
  EXPECT_EQ(code(set, "second"), finding_code::kDuplicateRegistration);
  EXPECT_NE(report_of(set, "second").message.find("registers a kind twice: kind example.com/v1, Kind=Thing"), std::string::npos);
  EXPECT_EQ(report_of(set, "second").state, PluginState::kFailed);
  EXPECT_EQ(report_of(set, "third").state, PluginState::kBlocked);
  EXPECT_EQ(code(set, "twice"), finding_code::kDuplicateRegistration);
  EXPECT_EQ(set.scheme->known_types().size(), 0u);  // without a schema it is not served, but its name is taken
}

TEST_F(WrongPlugins, AHookThatThrowsIsReportedWithItsPlugin) {
  add("hooked", "hook=h");
  auto set = load();
  IoLoop loop{"hooks"};
  loop.start();
  const auto status = run_on(loop, set.delegates.at(0)->pre_shutdown_hooks.at(0).hook());
  loop.stop();
  EXPECT_EQ(status.message(), "PLG-LIFE-013 pre-shutdown hook h of plugin hooked threw: thrown in a hook");
}

TEST_F(WrongPlugins, AStaticInitializerThatThrowsEndsTheProcessAndTheLogNamesThePlugin) {
  ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
  add("good");
  SharedObject("actor_throws_when_loaded").manifest(manifest_of("hasty")).write(plugins_ / "hasty.so");
  EXPECT_EXIT((void)services_.load({{plugins_.path()}, {}, {}, copies_.path()}), ::testing::KilledBySignal(SIGABRT),
              "while loading plugin=hasty file=.*hasty.so: PLG-LIFE-001 thrown before the first call");
}

}  // namespace
}  // namespace backplane
