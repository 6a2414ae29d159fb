// The commands `backplane plugin …` on a directory with valid plugins that require each other, and two invalid files.
#include "plugin/plugin_cli.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "shared_object.hpp"

namespace backplane {
namespace {

class PluginCli : public ::testing::Test {
 protected:
  PluginCli() {
    SharedObject().manifest(manifest_of("aggregator", R"("in_front_of":["*"])")).write(dir_ / "aggregator.so");
    SharedObject().manifest(manifest_of("core")).write(dir_ / "core.so");
    SharedObject().manifest(manifest_of("apps", R"("requires":[{"name":"core","version":"^1"}])")).write(dir_ / "apps.so");
  }
  void add_wrong() {
    SharedObject object;
    object.manifest(manifest_of("old")).head([](bp_note_head& h) {
      h.boost_version = 108600;
      h.stdlib_flags ^= BP_STDLIB_DEBUG;
    });
    object.write(dir_ / "old.so");
  }
  int run(std::vector<std::string> words) {
    words.insert(words.begin(), "plugin");
    std::vector<char*> argv;
    for (auto& word : words) argv.push_back(word.data());
    out_.str({});
    err_.str({});
    return run_plugin_cli(static_cast<int>(argv.size()), argv.data(), out_, err_);
  }
  std::string out() const { return out_.str(); }
  bool says(const std::string& text) const { return out().find(text) != std::string::npos; }
  bool complains(const std::string& text) const { return err_.str().find(text) != std::string::npos; }

  TemporaryDirectory dir_;
  std::ostringstream out_, err_;
};

TEST_F(PluginCli, ListShowsEveryFileWithItsState) {
  add_wrong();
  EXPECT_EQ(run({"list", "--plugin-dir", dir_.path(), "--disable-plugin=apps"}), 0);
  EXPECT_TRUE(says("NAME"));
  EXPECT_TRUE(says("core        1.0.0    Planned   -"));
  EXPECT_TRUE(says("apps        1.0.0    Disabled"));
  EXPECT_TRUE(says("old         1.0.0    Rejected  PLG-ABI-006"));
  EXPECT_EQ(run({"list", "--plugin-dir", dir_.path(), "-o", "json"}), 0);
  const auto document = json::parse(out());
  EXPECT_EQ(document.at("plugins").as_array().size(), 4u);
}

TEST_F(PluginCli, InspectShowsManifestAndStampOfAFileOrAName) {
  EXPECT_EQ(run({"inspect", dir_ / "apps.so"}), 0);
  EXPECT_TRUE(says("requires"));
  EXPECT_TRUE(says("layout"));
  EXPECT_EQ(run({"inspect", "apps", "--plugin-dir", dir_.path(), "-o", "json"}), 0);
  const auto document = json::parse(out());
  EXPECT_EQ(document.at("manifest").at("name").as_string(), "apps");
  EXPECT_TRUE(document.at("stamp").as_object().contains("boost"));
  EXPECT_EQ(run({"inspect", "ghost", "--plugin-dir", dir_.path()}), 1);
}

TEST_F(PluginCli, CheckIsCleanOrShowsEveryFinding) {
  EXPECT_EQ(run({"check", "--plugin-dir", dir_.path()}), 0) << out();
  add_wrong();
  EXPECT_EQ(run({"check", "--plugin-dir", dir_.path()}), 1);
  EXPECT_TRUE(says("PLG-ABI-006"));
  EXPECT_TRUE(says("PLG-ABI-007"));
  EXPECT_TRUE(says("found 1.86.0"));
  EXPECT_EQ(run({"check", dir_ / "apps.so", "--plugin-dir", dir_.path()}), 0) << out();
  EXPECT_EQ(run({"check", "--plugin-dir", dir_.path(), dir_ / "apps.so"}), 0) << "the file is not another directory: " << out();
  EXPECT_EQ(run({"check", dir_ / "apps.so", "--plugin-dir", "/nowhere"}), 1);
  EXPECT_TRUE(says("PLG-DEP-001"));
  EXPECT_EQ(run({"check", "--plugin-dir", dir_.path(), "-o", "json"}), 1);
  EXPECT_FALSE(json::parse(out()).at("clean").as_bool());
}

TEST_F(PluginCli, CheckNamesUndefinedSymbolsWithoutRunningCode) {
  SharedObject("actor_throws_when_loaded")
      .manifest(manifest_of("lost"))
      .replace("_ZTIN9backplane6PluginE", "_ZTIN9backplane6PlugonE")
      .write(dir_ / "lost.so");
  EXPECT_EQ(run({"check", dir_ / "lost.so"}), 1);
  EXPECT_TRUE(says("FAIL lost 1.0.0") && says("PLG-LIFE-002") && says("found typeinfo for backplane::Plugon")) << out();
  EXPECT_TRUE(says("link the library that defines it")) << out();
  EXPECT_FALSE(says("backplane::Plugin")) << "the host defines it: " << out();
}

TEST_F(PluginCli, CheckNamesALibraryThatIsNotFound) {
  SharedObject().manifest(manifest_of("alone")).replace("libgcc_s.so.1", "libgcc_x.so.1").write(dir_ / "alone.so");
  EXPECT_EQ(run({"check", dir_ / "alone.so"}), 1);
  EXPECT_TRUE(says("PLG-LIFE-001") && says("the library libgcc_x.so.1 is not found")) << out();
}

TEST_F(PluginCli, GraphShowsTheChainFrontToBackAndTheEdges) {
  EXPECT_EQ(run({"graph", "--plugin-dir", dir_.path()}), 0);
  EXPECT_TRUE(says("chain, front to back:\n  aggregator 1.0.0\n  apps 1.0.0\n  core 1.0.0\n  not found\n"));
  EXPECT_TRUE(says("apps requires core ^1"));
  EXPECT_EQ(run({"graph", "--plugin-dir", dir_.path(), "-o", "json"}), 0);
  const auto document = json::parse(out());
  EXPECT_EQ(document.at("chain"), json::parse(R"(["aggregator","apps","core","not found"])"));
  EXPECT_EQ(document.at("startOrder"), json::parse(R"(["aggregator","core","apps"])"));
}

TEST_F(PluginCli, GraphDrawsTheChainWithWhatIsLeftOut) {
  EXPECT_EQ(run({"graph", "--plugin-dir", dir_.path(), "--disable-plugin=aggregator", "-o", "svg"}), 0);
  EXPECT_TRUE(says("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  EXPECT_TRUE(says("<title>apps requires core ^1</title>"));
  EXPECT_TRUE(says("class=\"out\"/>"));
  EXPECT_TRUE(says("class=\"name\">aggregator</text>"));
  EXPECT_TRUE(out().ends_with("</svg>\n"));
  EXPECT_EQ(run({"list", "--plugin-dir", dir_.path(), "-o", "svg"}), 2);
}

TEST_F(PluginCli, ErrorsOfThePlanArePrintedAndAFatalOneIsCodeOne) {
  for (auto command : {"list", "graph"}) {
    EXPECT_EQ(run({command, "--plugin-dir", dir_.path(), "--require-plugin=nope"}), 1) << command;
    EXPECT_TRUE(complains("PLG-PLAN-005") && complains("nope")) << command;
    EXPECT_EQ(run({command, "--plugin-dir", dir_.path(), "--disable-plugin=nope"}), 0) << command;
    EXPECT_TRUE(complains("PLG-PLAN-006") && complains("nope")) << command;
    EXPECT_EQ(run({command, "--plugin-dir", "/nope", "-o", "json"}), 0) << command;
    EXPECT_TRUE(complains("PLG-PLAN-008") && complains("/nope")) << command;
    (void)json::parse(out());
  }
}

TEST_F(PluginCli, ADirectoryThatDoesNotExistIsNotInOrder) {
  EXPECT_EQ(run({"check", "--plugin-dir", "/nope"}), 1);
  EXPECT_TRUE(says("PLG-PLAN-008") && says("/nope"));
  EXPECT_EQ(run({"inspect", "core", "--plugin-dir", "/nope"}), 1);
  EXPECT_TRUE(complains("PLG-PLAN-008"));
  // The default directory of this test does not exist, and no flag names it.
  EXPECT_EQ(run({"check", dir_ / "core.so"}), 0) << out();
}

TEST_F(PluginCli, InspectWritesOneDocument) {
  EXPECT_EQ(run({"inspect", "apps", "core", "--plugin-dir", dir_.path(), "-o", "json"}), 0);
  const auto both = json::parse(out());
  ASSERT_EQ(both.as_array().size(), 2u);
  EXPECT_EQ(both.at(1).at("manifest").at("name").as_string(), "core");
  EXPECT_EQ(run({"inspect", "apps", "ghost", "--plugin-dir", dir_.path(), "-o", "json"}), 1);
  EXPECT_EQ(json::parse(out()).as_array().size(), 1u);
  EXPECT_TRUE(complains("ghost"));
}

TEST_F(PluginCli, AVersionThatCannotBeReadIsShownAsTheManifestSaysIt) {
  SharedObject().manifest(manifest_of("young", {}, "one.two")).write(dir_ / "young.so");
  EXPECT_EQ(run({"list", "--plugin-dir", dir_.path()}), 0);
  EXPECT_TRUE(says("young       one.two  Rejected  PLG-DESC-007")) << out();
  EXPECT_EQ(run({"list", "--plugin-dir", dir_.path(), "-o", "json"}), 0);
  EXPECT_EQ(json::parse(out()).at("plugins").at(3).at("version").as_string(), "one.two");
  EXPECT_EQ(run({"check", "--plugin-dir", dir_.path()}), 1);
  EXPECT_TRUE(says("FAIL young one.two")) << out();
}

TEST_F(PluginCli, ADisabledPluginNeedNotBeInOrder) {
  add_wrong();
  EXPECT_EQ(run({"check", "--plugin-dir", dir_.path(), "--disable-plugin=old"}), 0) << out();
  EXPECT_TRUE(says("OFF  old 1.0.0  Disabled"));
  EXPECT_EQ(run({"check", "--plugin-dir", dir_.path(), "--disable-plugin=old", "--require-plugin=old"}), 1);
}

TEST_F(PluginCli, AWrongCommandLineIsCodeTwo) {
  EXPECT_EQ(run({}), 2);
  EXPECT_TRUE(complains("missing subcommand; available: list, inspect, check, graph"));
  EXPECT_EQ(run({"explode"}), 2);
  EXPECT_TRUE(complains("unknown subcommand \"explode\"; available: list, inspect, check, graph"));
  EXPECT_EQ(run({"list", "-o", "xml"}), 2);
  EXPECT_EQ(run({"--help"}), 0);
}

}  // namespace
}  // namespace backplane
