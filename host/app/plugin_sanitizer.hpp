// A server that runs a plugin built with a sanitizer of gcc: the run time that it needs, and what the sanitizer has reported.
//
// The server itself is not instrumented. Sanitizers need their run time before all other code, so it is preloaded (LD_PRELOAD). Reports go
// to files.
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
  // After configure_plugin(). Without a sanitizer: an object without effect.
  static Result<PluginSanitizer> make(const FolderBuild& build);
  PluginSanitizer() = default;
  PluginSanitizer(PluginSanitizer&& other) noexcept;
  PluginSanitizer& operator=(PluginSanitizer&& other) noexcept;
  ~PluginSanitizer();

  // For the server's process.
  const std::vector<std::string>& environment() const noexcept { return environment_; }
  // What was reported, by the server and its probes; empty: nothing.
  std::string reports() const;

 private:
  std::vector<std::string> environment_;
  std::string directory_;
};

}  // namespace backplane
