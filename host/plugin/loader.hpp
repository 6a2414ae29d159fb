// Maps a plugin's code: from a private copy that nobody replaces, with every symbol resolved at once and none of them shown to others.
//
// Thread-safety: one thread; loading happens during start.
// Lifetime:      code that has been mapped stays mapped until the process ends: what a plugin has handed out may outlive it (vtables,
//                functions, read-only bytes).  The copies are removed with their directory.
// Errors:        findings PLG-FILE-010/011, PLG-LIFE-001 … 005.  A static initializer that throws ends the process; the log then says
// whose.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "backplane/plugin.hpp"
#include "plugin/descriptor.hpp"

namespace backplane {

// Where the private copies of one start stand: <base>/gen-<pid>-<n>, removed with this object.
class GenerationDirectory {
 public:
  // Also removes what processes that have ended left behind.  An empty `base` stands for a directory under the system's temporary one.
  static Result<GenerationDirectory> create(const std::string& base);
  GenerationDirectory(GenerationDirectory&& other) noexcept;
  GenerationDirectory& operator=(GenerationDirectory&& other) noexcept;
  ~GenerationDirectory();
  const std::string& path() const noexcept { return path_; }

 private:
  GenerationDirectory() = default;
  std::string path_;
};

// Copies the file of `inspected`, makes sure that the copy is what was inspected, maps it and makes the plugin.
// Null and a finding when that fails.  `inspected` has a descriptor.
std::unique_ptr<Plugin> load_plugin(const InspectedPlugin& inspected, const GenerationDirectory& directory, Findings& findings);

}  // namespace backplane
