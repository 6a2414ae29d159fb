// The ladder of folders: a rung may include the rungs below it and the SDK, never one above; a plugin includes the SDK and itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

// Top rung first: the order in which a request meets them, below the folders that put the server together.
const std::vector<std::string> kRungs{"app",       "plugin",   "client",    "transport", "http",       "filters", "routing",
                                      "endpoints", "security", "admission", "registry",  "watchcache", "storage", "base"};

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

// A quoted or angled include with a folder or an ending of ours, that is neither the plugin's own file, nor the SDK's, nor made from a file
// that the plugin embeds, comes from somewhere a stranger's plugin could not reach.
bool is_system_or_library(const std::string& target) {
  static const std::vector<std::string> kLibraries{"boost",  "gmock", "gtest",   "openssl", "rocksdb",
                                                   "spdlog", "sys",   "netinet", "arpa",    "nghttp2"};
  const bool has_folder = target.find('/') != std::string::npos;
  if (has_folder) return std::find(kLibraries.begin(), kLibraries.end(), first_part(target)) != kLibraries.end();
  return !target.ends_with(".hpp");
}

TEST(Ladder, PluginsIncludeOnlyTheSdkAndThemselves) {
  std::size_t seen = 0;
  for (const auto& plugin : fs::directory_iterator(fs::path(SOURCE_ROOT) / "plugins")) {
    if (!plugin.is_directory()) continue;
    for (const auto& include : quoted_includes(plugin.path())) {
      const fs::path folder = fs::path(SOURCE_ROOT) / "plugin-sdk";
      const auto has = [&](const fs::path& headers) { return fs::exists(folder / headers / include.target); };
      const bool sdk = has("include") || has("workload/include");
      const bool own = fs::exists(plugin.path() / include.target) || fs::exists(include.file.parent_path() / include.target);
      const bool embedded = include.target.ends_with("_json.hpp");
      const bool support = include.file.filename().string().ends_with("_test.cpp") &&
                           fs::exists(fs::path(SOURCE_ROOT) / "tests" / "support" / include.target);
      if (sdk) ++seen;
      EXPECT_TRUE(sdk || own || embedded || support || is_system_or_library(include.target))
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

}  // namespace
