#include "app/build_inputs.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace backplane {
namespace {

namespace fs = std::filesystem;

// Ninja's and Make's: they contain the paths of sources, headers, documents, and of the files from which cmake has made them.
constexpr std::array<std::string_view, 4> kDependencyFiles = {"build.ninja", ".ninja_deps", "build.make", "Makefile.cmake"};
constexpr std::string_view kGlobs = "VerifyGlobs.cmake";

bool lists_dependencies(const fs::path& file) {
  const std::string name = file.filename().string();
  return file.extension() == ".d" || std::find(kDependencyFiles.begin(), kDependencyFiles.end(), name) != kDependencyFiles.end();
}

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

bool is_build_input(const std::string& directory, std::string_view name) {
  const std::string path_end = "/" + std::string(name);
  bool any = false;
  std::error_code error;
  for (fs::recursive_directory_iterator entries(directory, error); !error && entries != fs::recursive_directory_iterator();
       entries.increment(error)) {
    if (entries->path().filename() == kGlobs) return true;
    if (!lists_dependencies(entries->path())) continue;
    any = true;
    if (read_file(entries->path()).find(path_end) != std::string::npos) return true;
  }
  return !any;
}

}  // namespace backplane
