#include "app/plugin_template.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "backplane/core/json.hpp"

namespace backplane {
namespace {

TEST(PluginTemplate, PluralsAreEnglish) {
  EXPECT_EQ(plural_of("Widget"), "widgets");
  EXPECT_EQ(plural_of("Policy"), "policies");
  EXPECT_EQ(plural_of("Gateway"), "gateways");
  EXPECT_EQ(plural_of("Ingress"), "ingresses");
  EXPECT_EQ(plural_of("Box"), "boxes");
}

TEST(PluginTemplate, EveryWordIsFilledInAndTheFilesAreShort) {
  const auto files = files_of({"widgets", "widgets.example.com", "Widget"});
  ASSERT_TRUE(files.ok()) << files.status().message();
  const std::map<std::string, std::size_t> most{{"CMakeLists.txt", 6}, {"plugin.json", 15}, {"plugin.cpp", 20}};
  for (const auto& [name, text] : *files) {
    EXPECT_EQ(text.find('@'), std::string::npos) << name;
    const auto limit = most.find(name);
    if (limit != most.end()) {
      EXPECT_LE(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')), limit->second) << name;
    }
    boost::system::error_code error;
    if (name.ends_with(".json")) boost::json::parse(text, error);
    EXPECT_FALSE(error) << name;
  }
  EXPECT_NE(files->at("plugin.json").find("\"example.com/widgets\""), std::string::npos);
  EXPECT_TRUE(files->contains("widgets.json"));
}

TEST(PluginTemplate, TheStableTierIsInCOrInCppAndNamesNoSdk) {
  for (const auto& [language, source, project] : {std::tuple("", "plugin.c", "LANGUAGES C)"), std::tuple("c", "plugin.c", "LANGUAGES C)"),
                                                  std::tuple("c++", "plugin.cpp", "LANGUAGES CXX)")}) {
    const auto files = files_of({"widgets", "widgets.example.com", "Widget", {}, "stable", language});
    ASSERT_TRUE(files.ok()) << files.status().message();
    EXPECT_EQ(files->size(), 6u);
    ASSERT_TRUE(files->contains(source));
    EXPECT_NE(files->at("CMakeLists.txt").find(project), std::string::npos);
    EXPECT_NE(files->at("CMakeLists.txt").find("BackplaneStableSdk"), std::string::npos);
    EXPECT_EQ(files->at("plugin.json").find("requires"), std::string::npos);
    for (const auto& [name, text] : *files) EXPECT_EQ(text.find('@'), std::string::npos) << name;
  }
}

TEST(PluginTemplate, WrongTiersAndLanguagesAreRefusedWithTheFlag) {
  const auto refused = [](const std::string& tier, const std::string& language) {
    return files_of({"widgets", "widgets.example.com", "Widget", {}, tier, language}).status().message();
  };
  EXPECT_NE(refused("other", "").find("--tier:"), std::string::npos);
  EXPECT_NE(refused("stable", "rust").find("--language:"), std::string::npos);
  EXPECT_NE(refused("native", "c").find("--language:"), std::string::npos);
}

TEST(PluginTemplate, WrongNamesAreRefusedWithTheFlag) {
  EXPECT_NE(files_of({"Widgets", "widgets.example.com", "Widget"}).status().message().find("name:"), std::string::npos);
  EXPECT_NE(files_of({"widgets", "widgets", "Widget"}).status().message().find("--group:"), std::string::npos);
  EXPECT_NE(files_of({"widgets", "widgets.example.com", "widget"}).status().message().find("--kind:"), std::string::npos);
  EXPECT_NE(files_of({"widgets", "widgets.example.com", "Widget", "Widget s"}).status().message().find("--plural:"), std::string::npos);
}

}  // namespace
}  // namespace backplane
