// A loop of its own for everybody who asks by name: who blocks theirs stalls nobody else.
//
// Thread-safety: of() from any thread; start() and stop() on one.
// Lifetime:      the loops live as long as the set; nothing runs on them before start() and after stop().
// Errors:        stop() names those whose thread would not end.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/io_loop.hpp"

namespace backplane {

class LoopSet {
 public:
  // The loop of `name`, made at the first ask.
  Executor& of(const std::string& name);
  // What has been posted runs from here on.
  void start();
  // The names of those that do not end within `limit`, all together.  Their threads still run what they run: the process must end without
  // taking anything away from them.
  std::vector<std::string> stop(std::chrono::nanoseconds limit);

 private:
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<IoLoop>> loops_;
  bool started_ = false;
};

}  // namespace backplane
