// Child processes of the commands for plugin authors, and the build of a plugin's folder with cmake.
//
// Thread-safety: the main thread.
// Errors:        exit codes; a program that cannot be executed is a line in `err` and the code 1.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

#include "base/child_process.hpp"

namespace backplane {

// How a folder is built.
struct FolderBuild {
  std::string folder;
  std::string sanitizer = {};  // "address", "thread" or "undefined"; empty: none
  // Where cmake writes: "build", or "build-address".
  std::string directory() const { return folder + (sanitizer.empty() ? "/build" : "/build-" + sanitizer); }
};

int run_command(const Command& command, std::ostream& err);

// Configures the build with cmake, unless it has been configured. This chooses the compilers and the options of the build.
int configure_plugin(const FolderBuild& build, std::ostream& err);
// Configures and builds the folder with the SDK of the installation that this executable belongs to.
int build_plugin(const FolderBuild& build, std::ostream& err);
// The plugins that the build has made.
std::vector<std::filesystem::path> built_plugins(const FolderBuild& build);
// Copies the built plugins to `directory` if they are newer than the copies there. A file is complete when it appears under its name.
void put_plugins(const FolderBuild& build, const std::string& directory);

}  // namespace backplane
