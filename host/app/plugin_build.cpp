#include "app/plugin_build.hpp"

#include <cstdlib>
#include <ostream>

namespace backplane {
namespace {

namespace fs = std::filesystem;

}  // namespace

int run_command(const Command& command, std::ostream& err) {
  const pid_t pid = spawn(command);
  if (pid > 0) return wait_for_exit(pid);
  err << "Error: " << command.front() << " cannot be executed\n";
  return 1;
}

int configure_plugin(const FolderBuild& build, std::ostream& err) {
  std::error_code error;
  if (fs::exists(build.directory() + "/CMakeCache.txt", error)) return 0;
  const std::string prefix = fs::path(own_program()).parent_path().parent_path().string();
  Command command{"cmake", "-S", build.folder, "-B", build.directory(), "-DCMAKE_PREFIX_PATH=" + prefix};
  if (!build.sanitizer.empty()) {
    const std::string flags = "-fsanitize=" + build.sanitizer + " -fno-omit-frame-pointer -g -O1";
    for (const std::string language : {"C", "CXX"}) {
      const char* given = std::getenv((language + "FLAGS").c_str());
      command.push_back("-DCMAKE_" + language + "_FLAGS=" + flags + (given != nullptr ? std::string(" ") + given : ""));
    }
    // A project has one of the languages or both.
    command.push_back("--no-warn-unused-cli");
  }
  return run_command(command, err);
}

int build_plugin(const FolderBuild& build, std::ostream& err) {
  if (const int code = configure_plugin(build, err); code != 0) return code;
  return run_command({"cmake", "--build", build.directory()}, err);
}

std::vector<std::filesystem::path> built_plugins(const FolderBuild& build) {
  std::vector<fs::path> out;
  std::error_code error;
  for (fs::directory_iterator entries(build.directory(), error); !error && entries != fs::directory_iterator(); entries.increment(error)) {
    if (entries->path().extension() == ".so") out.push_back(entries->path());
  }
  return out;
}

// Copies the plugins that are newer than their copies. A file is complete when it appears under its name.
void put_plugins(const FolderBuild& build, const std::string& directory) {
  for (const auto& plugin : built_plugins(build)) {
    const fs::path target = fs::path(directory) / plugin.filename(), made = target.string() + ".new";
    std::error_code error;
    if (fs::exists(target, error) && fs::last_write_time(target, error) >= fs::last_write_time(plugin, error)) continue;
    fs::copy_file(plugin, made, fs::copy_options::overwrite_existing, error);
    if (!error) fs::rename(made, target, error);
  }
}

}  // namespace backplane
