// Runs a function that was posted to an executor. Plugins can post functions to every executor of the server, so an exception of the
// function must not end the process: it is logged, at most once a minute for all executors.
//
// Thread-safety: any thread.
// Errors:        none; a destructor of the thrown object that throws ends the process.
#pragma once

#include <string>

namespace backplane {

// Logs the exception that is being handled. `executor`: its name.
void log_thrown_by_posted_work(const std::string& executor) noexcept;

template <class Work>
void run_posted(const std::string& executor, const Work& work) noexcept {
  try {
    work();
  } catch (...) {
    log_thrown_by_posted_work(executor);
  }
}

}  // namespace backplane
