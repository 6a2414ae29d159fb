#include "all_documents.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

namespace backplane {
namespace {

namespace fs = std::filesystem;

Value parsed(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  json::parse_options options;
  options.max_depth = kMaxJsonDepth;
  return json::parse(std::string(std::istreambuf_iterator<char>(file), {}), {}, options);
}

std::vector<fs::path> documents() {
  const fs::path source = SOURCE_DIR;
  std::vector<fs::path> paths{source / "plugin-sdk/schema/core_v1.json"};
  std::set<fs::path> of_plugins;
  for (const auto& plugin : fs::directory_iterator(source / "plugins")) {
    if (!fs::is_directory(plugin.path() / "schema")) continue;
    for (const auto& file : fs::directory_iterator(plugin.path() / "schema")) of_plugins.insert(file.path());
  }
  paths.insert(paths.end(), of_plugins.begin(), of_plugins.end());
  paths.push_back(source / "tests/schema/unserved_versions.json");
  return paths;
}

std::shared_ptr<const SchemaSet> load() {
  std::set<std::string> seen;
  std::vector<std::string> texts;
  for (const fs::path& path : documents()) {
    Value document = parsed(path);
    Object* definitions = nullptr;
    if (Value* member = find(document.as_object(), "definitions")) definitions = member->if_object();
    if (definitions == nullptr || document.get_object().contains("x-backplane-mode")) continue;
    Object fresh;
    for (auto& [name, definition] : *definitions) {
      if (seen.insert(std::string(name)).second) fresh.emplace(name, definition);
    }
    document.get_object()["definitions"] = std::move(fresh);
    texts.push_back(to_json(document));
  }
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  auto set = SchemaSet::compile(views);
  EXPECT_TRUE(set.ok()) << set.status().message();
  return set.ok() ? *set : nullptr;
}

}  // namespace

const SchemaSet& all_documents() {
  static const std::shared_ptr<const SchemaSet> set = load();
  return *set;
}

const Schema* type_of(const Object& object) {
  const GroupVersion version = GroupVersion::parse(get_string(object, "apiVersion"));
  return all_documents().find(GroupVersionKind{version.group, version.version, std::string(get_string(object, "kind"))});
}

}  // namespace backplane
