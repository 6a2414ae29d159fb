// Loads a plugin file in a child process: a crash that would end the server ends only the child.
//
// The child maps the file, makes the plugin and destroys it. An exception or an undefined symbol is not a finding here: the server reports
// them when it loads the plugin, with more detail.
// Thread-safety: any thread; one Probe belongs to one thread.
// Lifetime:      the destructor kills the child.
// Errors:        finding PLG-LIFE-015 for a crash, an exit, a call that does not return. A child that cannot be started is no finding.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "plugin/finding.hpp"

namespace backplane {

class Probe {
 public:
  // Starts `program plugin probe FILE`.
  Probe(const std::string& program, const std::string& file);
  ~Probe();
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;
  // Waits until the child has ended, or until `limit` has passed since it was started.
  std::optional<Finding> wait(std::chrono::nanoseconds limit);

 private:
  bool ended();
  void read();
  std::string last_step() const;
  std::string last_output() const;
  std::optional<Finding> finding_of_exit() const;

  const std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  int pid_ = -1, output_ = -1, status_ = 0;
  std::string text_;
};

// Probes `file` in the child. It does not return: it ends the process with code 0, unless the plugin ends the process before.
int run_probe(const std::string& file);

}  // namespace backplane
