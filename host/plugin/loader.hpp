// Maps a plugin's code from a private copy of the file, with all symbols resolved at once and none visible to other plugins.
//
// Thread-safety: one thread at a time.
// Lifetime:      code that has been mapped stays mapped until the process ends, unless it is unmapped by MappedCode::unmap(): objects of a
//                plugin may outlive it and refer to its code (vtables, functions, read-only bytes). The copies are removed with their code
//                or directory.
// Errors:        findings PLG-FILE-010/011, PLG-LIFE-001 … 005. A static initializer that throws ends the process; the log names the
//                plugin.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "backplane/plugin.hpp"
#include "plugin/descriptor.hpp"
#include "runner/runner.hpp"

namespace backplane {

// The directory of the private copies of one server: <base>/gen-<pid>-<n>. The destructor removes it.
class GenerationDirectory {
 public:
  // Also removes copies of processes that have ended.  An empty `base` means a directory under the system's temporary one.
  static Result<GenerationDirectory> create(const std::string& base);
  GenerationDirectory(GenerationDirectory&& other) noexcept;
  GenerationDirectory& operator=(GenerationDirectory&& other) noexcept;
  ~GenerationDirectory();
  const std::string& path() const noexcept { return path_; }

 private:
  GenerationDirectory() = default;
  std::string path_;
};

// The code of one loaded plugin.
class MappedCode {
 public:
  MappedCode();
  MappedCode(MappedCode&&) noexcept;
  MappedCode& operator=(MappedCode&&) noexcept;
  ~MappedCode();  // leaves the code mapped
  // The private copy; empty: nothing is mapped.
  const std::string& copy() const noexcept;
  // An address in the code; null: nothing is mapped.
  const void* address() const noexcept;
  enum class Unmapped : unsigned char {
    kDone,
    kRunning,  // a thread has the code on its stack, or has not responded in time; unmap() can be tried again
    kKept,     // the dynamic loader keeps it mapped until the process ends
  };
  // Runs the static destructors, unmaps the code and removes its private copy. Precondition: nothing refers to the code any more.
  Unmapped unmap();

 private:
  friend class PluginLoading;
  struct State;
  std::unique_ptr<State> state_;
};

struct LoadedPlugin {
  MappedCode code;                          // declared first, so destroyed last
  std::shared_ptr<runner::Runner> process;  // null: the plugin is in this process
  std::unique_ptr<Plugin> plugin;
  explicit operator bool() const noexcept { return plugin != nullptr; }
};

// Copies the file of `inspected`, verifies that the copy is the inspected file, maps it and makes the plugin. If that fails, it adds a
// finding and returns an empty LoadedPlugin. `inspected` has a descriptor.
LoadedPlugin load_plugin(const InspectedPlugin& inspected, const GenerationDirectory& directory, Findings& findings);
// As load_plugin(), but a runner process maps the copy. The file in `options` is ignored.
LoadedPlugin load_in_runner(const InspectedPlugin& inspected, const GenerationDirectory& directory, runner::RunnerOptions options,
                            Findings& findings);

}  // namespace backplane
