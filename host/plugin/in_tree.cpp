#include "plugin/in_tree.hpp"

#include <algorithm>
#include <filesystem>

#include "plugin/in_tree_names.hpp"
#include "plugin/plugin_registry.hpp"

namespace backplane {
namespace {

const std::filesystem::path& shipped_directory() {
  static const std::filesystem::path directory = [] {
    std::error_code error;
    return std::filesystem::weakly_canonical(default_plugin_directory(), error);
  }();
  return directory;
}

}  // namespace

const std::vector<std::string_view>& in_tree_plugins() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> out(std::begin(kInTreeNames), std::end(kInTreeNames));
    std::sort(out.begin(), out.end());
    return out;
  }();
  return names;
}

bool is_in_tree(std::string_view plugin, std::string_view file) {
  const auto& names = in_tree_plugins();
  if (!std::binary_search(names.begin(), names.end(), plugin)) return false;
  if (std::filesystem::path(file).parent_path() == shipped_directory()) return true;
  std::error_code error;  // a link to an in-tree plugin
  return std::filesystem::canonical(file, error).parent_path() == shipped_directory();
}

}  // namespace backplane
