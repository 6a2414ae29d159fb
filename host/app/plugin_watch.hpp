// Watches the plugin directories: a shared object that is written, moved or linked there is reported a moment after the last event. A file
// that is still being written then is reported again after its writer has closed it.
//
// Thread-safety: one thread creates and destroys it; `changed` runs on its thread, one call at a time.
// Lifetime:      the destructor waits for a call that is under way.
// Errors:        a directory that cannot be watched is a warning in the log.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace backplane {

class PluginWatch {
 public:
  PluginWatch(const std::vector<std::string>& directories, std::function<void(const std::string& file)> changed);
  ~PluginWatch();
  PluginWatch(const PluginWatch&) = delete;
  PluginWatch& operator=(const PluginWatch&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  void run();
  void read_events();
  void report_settled();
  // Milliseconds until the next file has settled; -1: none is awaited.
  int poll_timeout() const;

  const std::function<void(const std::string&)> changed_;
  int events_ = -1, stop_ = -1;
  std::map<int, std::string> directories_;            // by watch
  std::map<std::string, Clock::time_point> awaited_;  // file → when it has settled
  std::thread thread_;
};

}  // namespace backplane
