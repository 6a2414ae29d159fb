#include "plugin/planner.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace backplane {
namespace {

InspectedPlugin plugin(const std::string& manifest, std::string path = {}) {
  InspectedPlugin result;
  result.descriptor = parse_manifest(manifest, result.findings);
  EXPECT_TRUE(result.findings.empty()) << to_line(result.findings.empty() ? Finding{} : result.findings.front());
  result.path = path.empty() ? "/plugins/" + result.display_name() + ".so" : path;
  return result;
}

// A plugin with the manifest {"name": `name`, "version": `version`, `more`}.
InspectedPlugin named(const std::string& name, const std::string& more = {}, const std::string& version = "1.0.0", std::string path = {}) {
  return plugin(R"({"name":")" + name + R"(","version":")" + version + "\"" + (more.empty() ? "" : "," + more) + "}", std::move(path));
}

std::vector<std::string> names(const Plan& plan, const std::vector<std::size_t>& order) {
  std::vector<std::string> list;
  for (const auto i : order) list.push_back(plan.plugins[i].name());
  return list;
}

const PlannedPlugin& find_plugin(const Plan& plan, const std::string& name) {
  return *std::find_if(plan.plugins.begin(), plan.plugins.end(), [&](const PlannedPlugin& p) { return p.name() == name; });
}

using Names = std::vector<std::string>;

TEST(Planner, ProvidersStartBeforeThoseThatRequireThemAndTiesGoByName) {
  const auto plan =
      plan_plugins({named("zeta"), named("apps", R"("requires":[{"name":"core","version":"^1.0"}])"), named("core"), named("alpha")}, {});
  EXPECT_EQ(names(plan, plan.start_order), (Names{"alpha", "core", "apps", "zeta"}));
}

TEST(Planner, TheOrderOfFilesChangesNothing) {
  std::vector<InspectedPlugin> plugins{named("a", R"("in_front_of":["*"])"), named("b", R"("behind":["*"])"), named("c"),
                                       named("d", R"("requires":[{"name":"c"}])"), named("e", R"("in_front_of":["c"])")};
  const auto first = plan_plugins(plugins, {});
  const auto chain = names(first, first.chain), start = names(first, first.start_order);
  std::sort(plugins.begin(), plugins.end(), [](const auto& x, const auto& y) { return x.path > y.path; });
  const auto second = plan_plugins(plugins, {});
  EXPECT_EQ(names(second, second.chain), chain);
  EXPECT_EQ(names(second, second.start_order), start);
  EXPECT_EQ(chain, (Names{"a", "d", "e", "c", "b"}));
}

TEST(Planner, StarMeansAllPluginsWithoutStar) {
  const auto plan =
      plan_plugins({named("aggregator", R"("in_front_of":["*"])"), named("apiextensions", R"("behind":["*"],"requires":[{"name":"core"}])"),
                    named("core"), named("apps"), named("aa-front", R"("in_front_of":["*"])")},
                   {});
  EXPECT_EQ(names(plan, plan.chain), (Names{"aa-front", "aggregator", "apps", "core", "apiextensions"}));
}

TEST(Planner, NamesTakePrecedenceOverStar) {
  const auto plan =
      plan_plugins({named("front", R"("in_front_of":["*"])"), named("guard", R"("in_front_of":["front"])"), named("core")}, {});
  EXPECT_EQ(names(plan, plan.chain), (Names{"guard", "front", "core"}));
}

TEST(Planner, ACapabilityRepresentsItsProvider) {
  const auto plan = plan_plugins({named("store", R"("provides":[{"name":"storage","version":"2.1.0"}])"),
                                  named("user", R"("requires":[{"name":"storage","version":"^2"}])"),
                                  named("late", R"("requires":[{"name":"storage","version":"^3"}])")},
                                 {});
  EXPECT_EQ(names(plan, plan.start_order), (Names{"store", "user"}));
  EXPECT_EQ(find_plugin(plan, "late").code(), finding_code::kOutOfRange);
  EXPECT_EQ(find_plugin(plan, "late").inspected.findings[0].found, "store 2.1.0");
}

TEST(Planner, AMissingRequirementBlocksAndTheWholeChainIsReported) {
  const auto plan = plan_plugins({named("a", R"("requires":[{"name":"b"}])"), named("b", R"("requires":[{"name":"c"}])"),
                                  named("c", R"("requires":[{"name":"nothing"}])"), named("free")},
                                 {});
  EXPECT_EQ(names(plan, plan.start_order), (Names{"free"}));
  EXPECT_EQ(find_plugin(plan, "c").code(), finding_code::kMissing);
  EXPECT_EQ(find_plugin(plan, "a").code(), finding_code::kBlocked);
  EXPECT_EQ(find_plugin(plan, "a").inspected.findings[0].found, "a ← b ← c: PLG-DEP-001");
  EXPECT_EQ(find_plugin(plan, "a").state, PluginState::kBlocked);
}

TEST(Planner, ADisabledRequirementBlocksAndTheRemedyIsToEnableIt) {
  PlanOptions options;
  options.disabled = {"c"};
  const auto plan = plan_plugins(
      {named("a", R"("requires":[{"name":"b"}])"), named("b", R"("requires":[{"name":"shared"}])"), named("c", R"("provides":["shared"])")},
      options);
  for (const char* name : {"a", "b"}) {
    const Finding& finding = find_plugin(plan, name).inspected.findings.at(0);
    EXPECT_EQ(finding.code, finding_code::kBlocked) << name;
    EXPECT_NE(finding.fix.find("backplane plugin enable c;"), std::string::npos) << finding.fix;
  }
  EXPECT_EQ(find_plugin(plan, "a").inspected.findings[0].found, "a ← b ← c: Disabled");
}

TEST(Planner, AnOptionalRequirementOrdersButDoesNotBlock) {
  const auto with = plan_plugins({named("a", R"("requires":[{"name":"z","optional":true}])"), named("z")}, {});
  EXPECT_EQ(names(with, with.start_order), (Names{"z", "a"}));
  const auto without = plan_plugins({named("a", R"("requires":[{"name":"z","optional":true}])")}, {});
  EXPECT_EQ(names(without, without.start_order), (Names{"a"}));
  EXPECT_TRUE(without.plugins[0].inspected.findings.empty());
  const auto old = plan_plugins({named("a", R"("requires":[{"name":"z","version":"^2","optional":true}])"), named("z")}, {});
  EXPECT_TRUE(old.plugins[0].runs());
  EXPECT_EQ(old.plugins[0].inspected.findings[0].code, finding_code::kOptionalOutOfRange);
}

TEST(Planner, ACycleIsPrintedCompletelyAndOnlyItsMembersAndTheirDependentsAreExcluded) {
  const auto plan = plan_plugins({named("a", R"("requires":[{"name":"b"}])"), named("b", R"("requires":[{"name":"c"}])"),
                                  named("c", R"("requires":[{"name":"a"}])"), named("d", R"("requires":[{"name":"a"}])"), named("free")},
                                 {});
  EXPECT_EQ(names(plan, plan.start_order), (Names{"free"}));
  for (auto name : {"a", "b", "c"}) {
    EXPECT_EQ(find_plugin(plan, name).code(), finding_code::kDependencyCycle);
    EXPECT_EQ(find_plugin(plan, name).inspected.findings[0].found, "a → b → c → a");
  }
  EXPECT_EQ(find_plugin(plan, "d").inspected.findings[0].found, "d ← a: PLG-PLAN-002");
}

TEST(Planner, AnOptionalRequirementThatClosesACycleIsDroppedWithAWarning) {
  const auto plan =
      plan_plugins({named("a", R"("requires":[{"name":"b"}])"), named("b", R"("requires":[{"name":"a","optional":true}])")}, {});
  EXPECT_EQ(names(plan, plan.start_order), (Names{"b", "a"}));
  EXPECT_EQ(find_plugin(plan, "b").inspected.findings[0].code, finding_code::kOptionalCycle);
}

TEST(Planner, OfTwoContradictoryPluginsOneIsExcluded) {
  const auto plan = plan_plugins({named("a", R"("in_front_of":["b"])"), named("b", R"("in_front_of":["a"])"), named("c")}, {});
  EXPECT_EQ(names(plan, plan.chain), (Names{"a", "c"}));
  EXPECT_EQ(find_plugin(plan, "b").code(), finding_code::kOrderCycle);
  EXPECT_EQ(find_plugin(plan, "b").inspected.findings[0].found, "a → b → a");
  const auto required =
      plan_plugins({named("a", R"("in_front_of":["b"])"), named("b", R"("in_front_of":["a"])"), named("c")}, {{}, {"b"}, {}});
  EXPECT_EQ(names(required, required.chain), (Names{"b", "c"}));
  EXPECT_TRUE(required.fatal.empty());
}

TEST(Planner, AThirdPartyPluginThatReversesTheChainIsRejectedAlone) {
  const std::vector<InspectedPlugin> plugins{named("apps", R"("requires":[{"name":"core"}],"behind":["core"])"), named("core"),
                                             named("evil", R"("in_front_of":["core"],"behind":["apps"])")};
  const auto plan = plan_plugins(plugins, {});
  EXPECT_EQ(names(plan, plan.chain), (Names{"core", "apps"}));
  const auto& finding = find_plugin(plan, "evil").inspected.findings.at(0);
  EXPECT_EQ(finding.code, finding_code::kOrderCycle);
  EXPECT_EQ(finding.found, "apps → evil → core → apps");
  EXPECT_NE(finding.message.find("evil declares behind apps and in_front_of core"), std::string::npos) << finding.message;
  EXPECT_NE(finding.message.find("apps declares behind core"), std::string::npos) << finding.message;
  EXPECT_TRUE(find_plugin(plan, "apps").inspected.findings.empty());
  // A plugin with contradictory declarations is rejected even if it is required.
  const auto required = plan_plugins(plugins, {{}, {"evil"}, {}});
  EXPECT_EQ(names(required, required.chain), (Names{"core", "apps"}));
  ASSERT_EQ(required.fatal.size(), 1u);
  EXPECT_NE(required.fatal[0].message.find("PLG-PLAN-003"), std::string::npos);
}

TEST(Planner, EveryCycleOfOrdersCostsOnePlugin) {
  const auto plan =
      plan_plugins({named("core"), named("apps", R"("behind":["core"])"), named("evil-1", R"("in_front_of":["core"],"behind":["apps"])"),
                    named("evil-2", R"("in_front_of":["core"],"behind":["apps"])"), named("x", R"("in_front_of":["y"])"),
                    named("y", R"("in_front_of":["z"])"), named("z", R"("in_front_of":["x"])")},
                   {});
  EXPECT_EQ(names(plan, plan.chain), (Names{"core", "apps", "x", "y"}));
  EXPECT_EQ(find_plugin(plan, "z").inspected.findings.at(0).found, "x → y → z → x");
}

TEST(Planner, WhatRequiresTheOneLeftOutOfACycleIsBlocked) {
  const auto plan =
      plan_plugins({named("apps", R"("behind":["core"])"), named("core"), named("evil", R"("in_front_of":["core"],"behind":["apps"])"),
                    named("fan", R"("requires":[{"name":"evil"}])")},
                   {});
  EXPECT_EQ(names(plan, plan.chain), (Names{"core", "apps"}));
  EXPECT_EQ(find_plugin(plan, "fan").inspected.findings.at(0).found, "fan ← evil: PLG-PLAN-003");
}

TEST(Planner, OfTwoFilesWithOneNameTheNewerVersionStays) {
  const auto plan = plan_plugins({named("a", {}, "1.0.0", "/one/a.so"), named("a", {}, "1.2.0", "/two/a.so")}, {});
  EXPECT_EQ(plan.plugins[0].state, PluginState::kRejected);
  EXPECT_EQ(plan.plugins[0].code(), finding_code::kDuplicateName);
  EXPECT_NE(plan.plugins[0].inspected.findings[0].message.find("/two/a.so"), std::string::npos);
  EXPECT_TRUE(plan.plugins[1].runs());
}

TEST(Planner, ThePluginThatDeclaresAConflictIsRejectedUnlessRequired) {
  const std::vector<InspectedPlugin> plugins{named("new", R"("conflicts":["old"])"), named("old")};
  const auto plan = plan_plugins(plugins, {});
  EXPECT_EQ(find_plugin(plan, "new").code(), finding_code::kConflict);
  EXPECT_TRUE(find_plugin(plan, "old").runs());
  const auto required = plan_plugins(plugins, {{}, {"new"}, {}});
  EXPECT_TRUE(find_plugin(required, "new").runs());
  EXPECT_EQ(find_plugin(required, "old").code(), finding_code::kConflict);
}

TEST(Planner, APluginThatDoesNotRunCausesNoConflict) {
  const auto lacking = plan_plugins({named("a", R"("conflicts":["b"])"), named("b", R"("requires":[{"name":"ghost"}])")}, {});
  EXPECT_EQ(names(lacking, lacking.chain), (Names{"a"}));
  EXPECT_EQ(find_plugin(lacking, "b").code(), finding_code::kMissing);
  const auto chain = plan_plugins({named("a", R"("conflicts":["b"])"), named("b", R"("conflicts":["c"])"), named("c")}, {});
  EXPECT_EQ(names(chain, chain.chain), (Names{"a", "c"}));
  const auto dependent = plan_plugins(
      {named("a", R"("conflicts":["c"])"), named("b", R"("requires":[{"name":"a"}])"), named("c"), named("d", R"("conflicts":["b"])")}, {});
  EXPECT_EQ(names(dependent, dependent.chain), (Names{"c", "d"}));
  const auto ring = plan_plugins(
      {named("a", R"("conflicts":["b"])"), named("b", R"("requires":[{"name":"c"}])"), named("c", R"("requires":[{"name":"b"}])")}, {});
  EXPECT_EQ(names(ring, ring.chain), (Names{"a"}));
}

TEST(Planner, OfTwoConflictingPluginsOneRuns) {
  const auto plan = plan_plugins({named("a", R"("conflicts":["b"])"), named("b", R"("conflicts":["a"])")}, {});
  EXPECT_EQ(names(plan, plan.chain), (Names{"b"}));
  const auto required = plan_plugins({named("a", R"("conflicts":["b"])"), named("b", R"("conflicts":["a"])")}, {{}, {"a"}, {}});
  EXPECT_EQ(names(required, required.chain), (Names{"a"}));
}

TEST(Planner, EveryUnmetRequirementIsReported) {
  const auto plan =
      plan_plugins({named("a", R"("requires":[{"name":"b"},{"name":"good"},{"name":"ghost"},{"name":"good","version":"^2"},{"name":"a"}])"),
                    named("b", R"("requires":[{"name":"c"}])"),
                    named("c", R"("requires":[{"name":"ghost"},{"name":"phantom"},{"name":"a"}])"), named("good")},
                   {});
  EXPECT_EQ(names(plan, plan.start_order), (Names{"good"}));
  const auto problems_of = [&](const char* name) {
    Names lines;
    for (const auto& f : find_plugin(plan, name).inspected.findings) lines.push_back(std::string(f.code) + " " + f.field + " " + f.found);
    return lines;
  };
  EXPECT_EQ(problems_of("a"), (Names{"PLG-DEP-001 requires[2] nothing", "PLG-DEP-002 requires[3] good 1.0.0",
                                     "PLG-DEP-003 requires[0] a ← b ← c: PLG-DEP-001"}));
  EXPECT_EQ(problems_of("b"), (Names{"PLG-DEP-003 requires[0] b ← c: PLG-DEP-001"}));
  EXPECT_EQ(problems_of("c"),
            (Names{"PLG-DEP-001 requires[0] nothing", "PLG-DEP-001 requires[1] nothing", "PLG-DEP-003 requires[2] c ← a: PLG-DEP-001"}));
}

TEST(Planner, ADisabledPluginNeedNotBeInOrder) {
  auto broken = named("old");
  broken.findings.push_back({finding_code::kBoostVersion, Severity::kError, "boost", {}, {}, "other", {}});
  const auto plan = plan_plugins({broken}, {{"old"}, {}, {}});
  EXPECT_EQ(plan.plugins[0].state, PluginState::kDisabled);
  EXPECT_TRUE(plan.general.empty());
}

TEST(Planner, AStoreThatIsNotUsedIsNotLoaded) {
  const auto rocks = named("rocks", R"("provides":["storage/rocksdb"])"), etcd = named("etcd", R"("provides":["storage/etcd3"])");
  const auto both = named("both", R"("provides":["storage/other","metrics"])"), group = named("core");
  const auto states = [&](const std::string& used, Names required = {}) {
    const auto plan = plan_plugins({rocks, etcd, both, group}, {{}, std::move(required), {}, used});
    std::string text;
    for (const auto& plugin : plan.plugins) text += plugin.runs() ? plugin.name() + " " : "";
    return text;
  };
  EXPECT_EQ(states("etcd3"), "etcd both core ");
  EXPECT_EQ(states("rocksdb"), "rocks both core ");
  EXPECT_EQ(states("etcd3", {"rocks"}), "rocks etcd both core ") << "another plugin requires it";
  EXPECT_EQ(states("unheard-of"), "rocks etcd both core ") << "the error lists the available stores";
  EXPECT_EQ(states(""), "rocks etcd both core ");
}

TEST(Planner, DisablingAPluginBlocksWhatRequiresItAndAnUnknownNameIsAWarning) {
  const auto plan = plan_plugins({named("core"), named("apps", R"("requires":[{"name":"core"}])")}, {{"core", "typo"}, {}, {}});
  EXPECT_EQ(find_plugin(plan, "core").state, PluginState::kDisabled);
  EXPECT_EQ(find_plugin(plan, "apps").inspected.findings[0].found, "apps ← core: Disabled");
  ASSERT_EQ(plan.general.size(), 1u);
  EXPECT_EQ(plan.general[0].code, finding_code::kUnknownDisabled);
}

TEST(Planner, ARequiredPluginThatDoesNotRunIsFatalWithAReason) {
  const auto plan = plan_plugins({named("apps", R"("requires":[{"name":"core"}])")}, {{}, {"apps", "ghost"}, {}});
  ASSERT_EQ(plan.fatal.size(), 2u);
  EXPECT_NE(plan.fatal[0].message.find("PLG-DEP-001"), std::string::npos);
  EXPECT_EQ(plan.fatal[1].message, "the plugin ghost does not run: there is no plugin of this name");
}

TEST(Planner, TheHostItselfIsACapability) {
  const std::vector<Capability> host{{"host", Version{0, 1, 0, {}, {}}}};
  const auto plan = plan_plugins(
      {named("a", R"("requires":[{"name":"host","version":"^0.1"}])"), named("b", R"("requires":[{"name":"host","version":"^9"}])")},
      {{}, {}, host});
  EXPECT_EQ(names(plan, plan.start_order), (Names{"a"}));
  EXPECT_EQ(find_plugin(plan, "b").code(), finding_code::kOutOfRange);
}

TEST(Planner, AReplanTakesOutWhatRequiresAFailedPluginAndKeepsTheRest) {
  auto plan = plan_plugins({named("core"), named("apps", R"("requires":[{"name":"core"}])"), named("other")}, {});
  plan.plugins[0].state = PluginState::kFailed;
  plan.plugins[0].inspected.findings.push_back({finding_code::kProvisionThrew, Severity::kError, {}, {}, {}, "threw", {}});
  replan(plan, {});
  EXPECT_EQ(names(plan, plan.start_order), (Names{"other"}));
  EXPECT_EQ(find_plugin(plan, "apps").inspected.findings[0].found, "apps ← core: PLG-LIFE-009");
}

TEST(Planner, FiveHundredPluginsAllFindTheirPlace) {
  const auto name = [](int n) { return "plugin-" + std::to_string(1000 + n); };
  std::vector<InspectedPlugin> plugins;
  for (int i = 0; i < 500; ++i) {
    std::string more = i == 0 ? R"("license":"Apache-2.0")" : R"("requires":[{"name":")" + name((i - 1) / 2) + R"(","version":"^1"}])";
    if (i % 100 == 7) more += R"(,"in_front_of":["*"])";
    plugins.push_back(named(name(i), more));
  }
  const auto plan = plan_plugins(std::move(plugins), {});
  EXPECT_EQ(plan.start_order.size(), 500u);
  EXPECT_EQ(plan.chain.size(), 500u);
  std::vector<std::size_t> position(500);
  for (std::size_t i = 0; i < 500; ++i) position[plan.start_order[i]] = i;
  for (const auto& edge : plan.edges) EXPECT_GT(position[edge.from], position[edge.to]);
  const auto front = names(plan, {plan.chain.begin(), plan.chain.begin() + 5});
  EXPECT_EQ(front, (Names{"plugin-1007", "plugin-1107", "plugin-1207", "plugin-1307", "plugin-1407"}));
}

TEST(Planner, TwoPluginsWithOneGroupGetAWarningAndBothRun) {
  const auto plan = plan_plugins({named("a", R"("provides":["group:example.com","group:other.com"])"),
                                  named("b", R"("provides":["group:example.com"])"), named("c", R"("provides":["group:third.com"])")},
                                 {});
  EXPECT_EQ(names(plan, plan.start_order), (Names{"a", "b", "c"}));
  for (const auto& [name, other] : {std::pair{"a", "b"}, std::pair{"b", "a"}}) {
    const auto& findings = find_plugin(plan, name).inspected.findings;
    ASSERT_EQ(findings.size(), 1u) << name;
    EXPECT_EQ(findings[0].code, finding_code::kSharedGroup);
    EXPECT_EQ(findings[0].severity, Severity::kWarning);
    EXPECT_EQ(findings[0].found, std::string("group:example.com of ") + other + " in /plugins/" + other + ".so");
  }
  EXPECT_TRUE(find_plugin(plan, "c").inspected.findings.empty());
}

}  // namespace
}  // namespace backplane
