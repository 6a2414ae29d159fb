// Checks the includes between folders. The folders of the SDK and of the host are each ordered as a ladder: a folder may include the
// folders below it, never one above it. A plugin may include the SDK and its own files.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

// The ladder of the host, the top rung first: the folders that assemble the server, followed by the others in the order in which a request
// uses them.
const std::vector<std::string> kRungs{"app",       "plugin",     "runner",  "stable",    "conformance", "testhost", "client",
                                      "transport", "http",       "filters", "routing",   "endpoints",   "security", "admission",
                                      "registry",  "watchcache", "storage", "profiling", "tracing",     "base"};

struct Include {
  fs::path file;
  int line;
  std::string target;  // "storage/memory_storage.hpp"
};

std::vector<Include> quoted_includes(const fs::path& root) {
  static const std::regex kInclude(R"re(^\s*#\s*include\s+["<]([^">]+)[">])re");
  std::vector<Include> found;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    const auto extension = entry.path().extension();
    if (extension != ".cpp" && extension != ".hpp" && extension != ".h" && extension != ".ipp") continue;
    std::ifstream file(entry.path());
    std::string text;
    for (int line = 1; std::getline(file, text); ++line) {
      if (text.find('#') == std::string::npos) continue;
      std::smatch match;
      if (std::regex_search(text, match, kInclude)) found.push_back({entry.path(), line, match[1]});
    }
  }
  return found;
}

int rung_of(const std::string& folder) {
  auto it = std::find(kRungs.begin(), kRungs.end(), folder);
  return it == kRungs.end() ? -1 : static_cast<int>(it - kRungs.begin());
}

std::string first_part(const std::string& path) { return path.substr(0, path.find('/')); }

TEST(Ladder, NoFolderOfTheHostIncludesOneAboveIt) {
  const fs::path host = fs::path(SOURCE_ROOT) / "host";
  std::size_t seen = 0;
  for (const auto& rung : kRungs) {
    if (!fs::exists(host / rung)) continue;
    for (const auto& include : quoted_includes(host / rung)) {
      const int target = rung_of(first_part(include.target));
      if (include.target.find('/') == std::string::npos || target < 0) continue;
      ++seen;
      EXPECT_GE(target, rung_of(rung)) << include.file << ":" << include.line << " includes " << include.target
                                       << ", which is a higher rung";
    }
  }
  EXPECT_GT(seen, 50u) << "the scan found too few includes to mean anything";
}

TEST(Ladder, EveryFolderOfTheHostIsARung) {
  for (const auto& entry : fs::directory_iterator(fs::path(SOURCE_ROOT) / "host")) {
    if (!entry.is_directory()) continue;
    EXPECT_GE(rung_of(entry.path().filename().string()), 0) << entry.path();
  }
}

// An include with a folder or an extension of this project that is neither the plugin's file, nor the SDK's, nor generated from a file
// that the plugin embeds, is not available to a third-party plugin.
bool is_system_or_library(const std::string& target) {
  static const std::vector<std::string> kLibraries{"boost",  "gmock", "gtest",   "openssl", "rocksdb",
                                                   "spdlog", "sys",   "netinet", "arpa",    "nghttp2"};
  const bool has_folder = target.find('/') != std::string::npos;
  if (has_folder) return std::find(kLibraries.begin(), kLibraries.end(), first_part(target)) != kLibraries.end();
  return !target.ends_with(".hpp");
}

// Static libraries that plugins share: a folder of one plugin that is also built alone, and the plugins that link it.
bool is_shared_library(const fs::path& plugin, const std::string& target) {
  static const std::vector<std::array<std::string, 3>> kShared{{"controllers", "admission", "quota/"},
                                                               {"controllers", "admissionregistration", "typing/"},
                                                               {"admission", "admissionregistration", "registration_kinds.hpp"}};
  return std::any_of(kShared.begin(), kShared.end(), [&](const auto& row) {
    return plugin.filename() == row[0] && target.starts_with(row[2]) && fs::exists(plugin.parent_path() / row[1] / target);
  });
}

bool is_embedded(const std::string& target) {
  static const std::vector<std::string> kEndings{"_json.hpp", "_js.hpp", "_css.hpp", "_html.hpp", "_svg.hpp"};
  return std::any_of(kEndings.begin(), kEndings.end(), [&](const std::string& ending) { return target.ends_with(ending); });
}

// Tests, and headers that only tests include.
bool is_of_tests(const std::string& name) {
  return name.ends_with("_test.cpp") || name.ends_with("_test_kit.hpp") || name.ends_with("_fixture.hpp");
}

TEST(Ladder, PluginsIncludeOnlyTheSdkAndTheirOwnFiles) {
  std::size_t seen = 0;
  for (const auto& plugin : fs::directory_iterator(fs::path(SOURCE_ROOT) / "plugins")) {
    if (!plugin.is_directory()) continue;
    for (const auto& include : quoted_includes(plugin.path())) {
      const fs::path folder = fs::path(SOURCE_ROOT) / "plugin-sdk";
      const auto has = [&](const fs::path& headers) { return fs::exists(folder / headers / include.target); };
      const bool sdk = has("include") || has("kit/include") || has("workload/include") || has("engine/include");
      const bool own = fs::exists(plugin.path() / include.target) || fs::exists(include.file.parent_path() / include.target);
      const bool embedded = is_embedded(include.target);
      const bool shared = is_shared_library(plugin.path(), include.target);
      const bool support =
          is_of_tests(include.file.filename().string()) && fs::exists(fs::path(SOURCE_ROOT) / "tests" / "support" / include.target);
      if (sdk) ++seen;
      EXPECT_TRUE(sdk || own || embedded || shared || support || is_system_or_library(include.target))
          << include.file << ":" << include.line << " includes " << include.target << ", which the SDK does not have";
    }
  }
  EXPECT_GT(seen, 50u);
}

TEST(Ladder, TheSdkIncludesNothingOfTheHostOrOfAPlugin) {
  for (const auto& include : quoted_includes(fs::path(SOURCE_ROOT) / "plugin-sdk")) {
    if (include.target.find('/') == std::string::npos) continue;
    const bool own = fs::exists(fs::path(SOURCE_ROOT) / "plugin-sdk" / "src" / include.target);
    EXPECT_TRUE(own || rung_of(first_part(include.target)) < 0) << include.file << ":" << include.line << " includes " << include.target;
  }
}

// ---- the ladder of the SDK

// Public headers and the sources of the same names, bottom rung first.  `host` is host.hpp; `front` are plugin.hpp, controller.hpp and
// abi/; `stable` includes only itself.
const std::vector<std::string> kSdkRungs{"stable", "core", "types", "points", "rest", "host", "net", "front", "kit", "workload"};
// Engines, bottom rung first: they include only core and types.
const std::vector<std::string> kEngineRungs{"text", "cel", "schema", "raw", "fields", "codec", "documents"};

const fs::path kSdk = fs::path(SOURCE_ROOT) / "plugin-sdk";

int index_in(const std::vector<std::string>& rungs, const std::string& name) {
  const auto it = std::find(rungs.begin(), rungs.end(), name);
  return it == rungs.end() ? -1 : static_cast<int>(it - rungs.begin());
}

// The rung of a public header ("backplane/rest/roles.hpp"); -1 if it is not one.
int sdk_rung(const std::string& header) {
  if (!header.starts_with("backplane/")) return -1;
  const std::string rest = header.substr(header.find('/') + 1);
  if (rest == "host.hpp") return index_in(kSdkRungs, "host");
  if (rest == "resource.hpp") return index_in(kSdkRungs, "kit");
  if (rest.find('/') == std::string::npos || first_part(rest) == "abi") return index_in(kSdkRungs, "front");
  return index_in(kSdkRungs, first_part(rest));
}

bool is_test(const fs::path& file) { return file.filename().string().ends_with("_test.cpp"); }

// Checks every include below `folder` of a header for which `rung` returns a rung.
void expect_at_most(const fs::path& folder, int own, int (*rung)(const std::string&), std::size_t& seen) {
  for (const auto& include : quoted_includes(folder)) {
    if (is_test(include.file)) continue;
    const int target = rung(include.target);
    if (target < 0) continue;
    ++seen;
    EXPECT_LE(target, own) << include.file << ":" << include.line << " includes " << include.target << ", which is a higher rung";
  }
}

TEST(Ladder, NoPublicHeaderIncludesOneAboveIt) {
  std::size_t seen = 0;
  for (const char* root : {"include", "kit/include", "workload/include"}) {
    for (const auto& include : quoted_includes(kSdk / root)) {
      const std::string name = fs::relative(include.file, kSdk / root).string();
      const int target = sdk_rung(include.target);
      EXPECT_GE(sdk_rung(name), 0) << name << " is in a folder without a rung";
      EXPECT_FALSE(include.target.starts_with("engine/")) << name << ":" << include.line << ": engines are not installed";
      if (target < 0) continue;
      ++seen;
      EXPECT_LE(target, sdk_rung(name)) << name << ":" << include.line << " includes " << include.target << ", which is a higher rung";
    }
  }
  EXPECT_GT(seen, 200u);
}

TEST(Ladder, NoSourceOfTheSdkIncludesAFolderAboveItsOwn) {
  std::size_t seen = 0;
  for (const auto& folder : fs::directory_iterator(kSdk / "src")) {
    const std::string name = folder.path().filename().string();
    const int own = index_in(kSdkRungs, name == "abi" || name == "host" ? "front" : name);
    ASSERT_GE(own, 0) << folder.path();
    expect_at_most(folder.path(), own, sdk_rung, seen);
    // Headers among the sources: "net/services/addresses.hpp".
    expect_at_most(
        folder.path(), own, [](const std::string& target) { return index_in(kSdkRungs, first_part(target)); }, seen);
  }
  expect_at_most(kSdk / "kit/src", index_in(kSdkRungs, "kit"), sdk_rung, seen);
  EXPECT_GT(seen, 100u);
}

TEST(Ladder, EnginesIncludeLowerEnginesAndTheHeadersOfCoreAndTypes) {
  std::size_t seen = 0;
  const int types = index_in(kSdkRungs, "types");
  expect_at_most(kSdk / "engine/include", types, sdk_rung, seen);
  for (std::size_t own = 0; own < kEngineRungs.size(); ++own) {
    const fs::path folder = kSdk / "engine" / kEngineRungs[own];
    ASSERT_TRUE(fs::exists(folder / "README.md")) << folder;
    expect_at_most(folder, types, sdk_rung, seen);
    expect_at_most(
        folder, static_cast<int>(own), [](const std::string& target) { return index_in(kEngineRungs, first_part(target)); }, seen);
    for (const auto& include : quoted_includes(folder)) {
      EXPECT_FALSE(!is_test(include.file) && fs::exists(kSdk / "src" / include.target))
          << include.file << ":" << include.line << " includes " << include.target << ", a header of the SDK's own sources";
    }
  }
  EXPECT_GT(seen, 100u);
}

TEST(Ladder, FirstLevelsHoldAtMostTwentyFoldersAndSources) {
  for (const char* folder : {"plugin-sdk", "plugin-sdk/include/backplane", "plugin-sdk/src", "plugin-sdk/engine", "host"}) {
    std::size_t count = 0;
    for (const auto& entry : fs::directory_iterator(fs::path(SOURCE_ROOT) / folder)) {
      const auto extension = entry.path().extension();
      if (entry.is_directory() || extension == ".cpp" || extension == ".hpp") ++count;
    }
    EXPECT_LE(count, 20u) << folder;
  }
}

TEST(Ladder, TheGuideSaysWhatEachFolderOfTheSdkIsFor) {
  std::ifstream file(fs::path(SOURCE_ROOT) / "docs/plugins.md");
  const std::string guide{std::istreambuf_iterator<char>(file), {}};
  for (const char* root : {"include", "kit/include", "workload/include"}) {
    for (const auto& entry : fs::directory_iterator(kSdk / root / "backplane")) {
      std::string name = "`backplane/" + entry.path().filename().string() + (entry.is_directory() ? "/`" : "`");
      EXPECT_NE(guide.find("| " + name + " |"), std::string::npos) << "docs/plugins.md has no line of a table for " << name;
    }
  }
}

// ---- dynamic_cast: a virtual function or a row of a table expresses an object's abilities at less cost.

std::vector<std::string> lines_of(const fs::path& file) {
  std::vector<std::string> lines;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(Ladder, AtMostTwentyCastsAndEachWithItsReason) {
  std::size_t casts = 0;
  for (const char* root : {"host", "plugin-sdk", "plugins"}) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(SOURCE_ROOT) / root)) {
      const auto extension = entry.path().extension();
      if ((extension != ".cpp" && extension != ".hpp") || is_test(entry.path())) continue;
      const auto lines = lines_of(entry.path());
      for (std::size_t i = 0; i < lines.size(); ++i) {
        if (lines[i].substr(0, lines[i].find("//")).find("dynamic_cast") == std::string::npos) continue;
        ++casts;
        bool reason = lines[i].find("//") != std::string::npos;
        if (i > 0) reason |= lines[i - 1].find("//") != std::string::npos;
        EXPECT_TRUE(reason) << entry.path() << ":" << i + 1 << ": a comment above says why a cast is needed";
      }
    }
  }
  EXPECT_LE(casts, 20u);
}

}  // namespace
