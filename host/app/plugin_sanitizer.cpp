#include "app/plugin_sanitizer.hpp"

#include <stdio.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

namespace backplane {
namespace {

namespace fs = std::filesystem;

struct SanitizerRow {
  std::string_view name;
  std::string_view variable;  // environment variable with its options
  std::string_view library;   // shared object to preload
  std::string_view options;
};
// The host is not instrumented. Leaks and mismatched frees in it are not errors of the plugin, and ThreadSanitizer cannot detect that
// atomics of the host synchronise threads.
constexpr SanitizerRow kRows[] = {
    {"address", "ASAN_OPTIONS", "libasan.so",
     "detect_leaks=0:alloc_dealloc_mismatch=0:detect_odr_violation=0:handle_segv=0:handle_abort=0"},
    {"thread", "TSAN_OPTIONS", "libtsan.so",
     "ignore_noninstrumented_modules=1:halt_on_error=0:report_signal_unsafe=0:report_thread_leaks=0:exitcode=0"},
    {"undefined", "UBSAN_OPTIONS", "libubsan.so", "print_stacktrace=1"},
};

const SanitizerRow* row_of(std::string_view name) {
  const auto* found = std::find_if(std::begin(kRows), std::end(kRows), [&](const auto& row) { return row.name == name; });
  return found == std::end(kRows) ? nullptr : found;
}

struct Compiler {
  std::string path, family;  // as cmake names it: GNU, Clang
};

// The quoted value of a line set(NAME "value"); empty: the line is another one.
std::string value_of(const std::string& line, std::string_view name) {
  const auto begin = line.find('"'), end = line.rfind('"');
  return line.starts_with("set(" + std::string(name) + " ") && begin < end ? line.substr(begin + 1, end - begin - 1) : std::string();
}

// The compilers that cmake has found for a build.
std::vector<Compiler> compilers_of(const FolderBuild& build) {
  std::vector<Compiler> out;
  std::error_code error;
  for (fs::directory_iterator entries(build.directory() + "/CMakeFiles", error); !error && entries != fs::directory_iterator();
       entries.increment(error)) {
    for (const std::string language : {"C", "CXX"}) {
      std::ifstream file(entries->path() / ("CMake" + language + "Compiler.cmake"));
      Compiler found;
      for (std::string line; std::getline(file, line);) {
        if (found.path.empty()) found.path = value_of(line, "CMAKE_" + language + "_COMPILER");
        if (found.family.empty()) found.family = value_of(line, "CMAKE_" + language + "_COMPILER_ID");
      }
      if (!found.path.empty()) out.push_back(std::move(found));
    }
  }
  return out;
}

// The path that a compiler links for a library; empty: it has none.
std::string library_of(const std::string& compiler, std::string_view library) {
  const std::string command = "'" + compiler + "' -print-file-name=" + std::string(library) + " 2>/dev/null";
  FILE* output = ::popen(command.c_str(), "r");
  if (output == nullptr) return {};
  char line[4096] = "";
  const bool read = std::fgets(line, sizeof line, output) != nullptr;
  ::pclose(output);
  std::string path = read ? line : "";
  while (path.ends_with('\n')) path.pop_back();
  std::error_code error;
  return path.starts_with('/') && fs::exists(path, error) ? fs::canonical(path, error).string() : std::string();
}

Status refused(const FolderBuild& build, const std::string& why) {
  return bad_request("--sanitizer=" + build.sanitizer + ": " + why + "; remove " + build.directory() +
                     " and build with gcc (CC=gcc CXX=g++)");
}

// The file to preload. Plugins that gcc has built link the shared run time of its sanitizers. Plugins that clang has built are refused,
// because they expect the run time in the executable.
Result<std::string> run_time_of(const FolderBuild& build, const SanitizerRow& row) {
  std::string path;
  for (const auto& compiler : compilers_of(build)) {
    if (compiler.family != "GNU") return refused(build, compiler.path + " is " + compiler.family + ", not gcc");
    if (path.empty()) path = library_of(compiler.path, row.library);
  }
  if (path.empty()) return refused(build, "the compiler has no " + std::string(row.library));
  return path;
}

}  // namespace

Result<PluginSanitizer> PluginSanitizer::make(const FolderBuild& build) {
  PluginSanitizer out;
  if (build.sanitizer.empty()) return out;
  const SanitizerRow* row = row_of(build.sanitizer);
  if (row == nullptr) return bad_request("--sanitizer: must be address, thread or undefined");
  std::string pattern = (fs::temp_directory_path() / "backplane-sanitizer-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) return internal_error("cannot make " + pattern + ": " + std::strerror(errno));
  out.directory_ = pattern;
  const char* given = std::getenv(std::string(row->variable).c_str());
  out.environment_ = {std::string(row->variable) + "=" + std::string(row->options) + ":log_path=" + pattern + "/report" +
                      (given != nullptr ? ":" + std::string(given) : "")};
  auto library = run_time_of(build, *row);
  if (!library.ok()) return std::move(library.status());
  const char* others = std::getenv("LD_PRELOAD");
  out.environment_.push_back("LD_PRELOAD=" + *library + (others != nullptr ? ":" + std::string(others) : ""));
  return out;
}

PluginSanitizer::PluginSanitizer(PluginSanitizer&& other) noexcept
    : environment_(std::move(other.environment_)), directory_(std::exchange(other.directory_, {})) {}

PluginSanitizer& PluginSanitizer::operator=(PluginSanitizer&& other) noexcept {
  std::swap(environment_, other.environment_);
  std::swap(directory_, other.directory_);
  return *this;
}

PluginSanitizer::~PluginSanitizer() {
  std::error_code ignored;
  if (!directory_.empty()) fs::remove_all(directory_, ignored);
}

std::string PluginSanitizer::reports() const {
  std::ostringstream out;
  std::error_code error;
  if (directory_.empty()) return {};
  for (fs::directory_iterator entries(directory_, error); !error && entries != fs::directory_iterator(); entries.increment(error)) {
    std::ifstream file(entries->path(), std::ios::binary);
    out << file.rdbuf();
  }
  return out.str();
}

}  // namespace backplane
