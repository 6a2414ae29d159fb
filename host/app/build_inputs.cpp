#include "app/build_inputs.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace backplane {
namespace {

namespace fs = std::filesystem;

// Dependency files of Ninja and Make. They contain the paths of the sources, headers, documents and CMake files that a build reads.
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
