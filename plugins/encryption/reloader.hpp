// The configuration in use, and its replacement when the file changes (--encryption-provider-config-automatic-reload).
//
// Thread-safety: current() from any thread; the rest on the plugin's executor.
// Lifetime:      outlives the tasks of the plugin.
// Errors:        a file that cannot be used is logged and counted, and the present configuration stays in use.
// Source:        encryptionconfig/controller.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "backplane/kit/reload_metrics.hpp"
#include "setup.hpp"

namespace backplane::encryption {

class Reloader {
 public:
  Reloader(Host& host, SetupContext context, SetupRef setup);

  SetupRef current() const { return current_.load(); }
  // Watches the file until the server stops.
  Task<void> follow();

  // How often the file is checked.
  static constexpr std::chrono::milliseconds kInterval{1000};
  // How often a change that could not take effect is tried again.
  static constexpr std::chrono::milliseconds kRetryInterval{10'000};

 private:
  Task<bool> changed(std::string content);
  Task<Outcome<Done>> replace(std::string content);
  void failed(const std::string& why);

  Host& host_;
  const SetupContext context_;
  std::atomic<std::shared_ptr<const Setup>> current_;
  kit::ReloadMetrics metrics_;
};

}  // namespace backplane::encryption
