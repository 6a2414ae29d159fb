// Prepares the environment of a server that runs a plugin built with a sanitizer of gcc, and reads the reports of the sanitizer.
//
// The server itself is not instrumented. Sanitizers need their run time before all other code, so LD_PRELOAD preloads it. Reports go to
// files.
//
// Thread-safety: the main thread.
// Lifetime:      the destructor removes the directory of the reports.
// Errors:        make(): kBadRequest if a compiler of the build is not gcc, or has no such run time.
#pragma once

#include <string>
#include <vector>

#include "app/plugin_build.hpp"
#include "backplane/core/status.hpp"

namespace backplane {

class PluginSanitizer {
 public:
  // Call it after configure_plugin(). If `build` has no sanitizer, the result has no effect.
  static Result<PluginSanitizer> make(const FolderBuild& build);
  PluginSanitizer() = default;
  PluginSanitizer(PluginSanitizer&& other) noexcept;
  PluginSanitizer& operator=(PluginSanitizer&& other) noexcept;
  ~PluginSanitizer();

  // Environment variables for the server's process.
  const std::vector<std::string>& environment() const noexcept { return environment_; }
  // The reports of the server and of its probes; empty if there are none.
  std::string reports() const;

 private:
  std::vector<std::string> environment_;
  std::string directory_;
};

}  // namespace backplane
