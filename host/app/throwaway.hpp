// --throwaway: a server for one test run, with a store in memory, a free port and a temporary data directory, which stops when its parent
// process ends.
//
// Thread-safety: startup, one thread; the parent is watched on a separate thread.
// Lifetime:      Throwaway removes the directory at its destruction, after the server has stopped. ParentWatch borrows the StopEvent.
// Errors:        kBadRequest for flags that contradict --throwaway; kInternalError if the directory cannot be made.
#pragma once

#include <string>
#include <thread>

#include "app/options.hpp"
#include "app/stop_event.hpp"
#include "backplane/core/status.hpp"

namespace backplane {

class Throwaway {
 public:
  // Makes the directory and sets --data-dir, --storage-backend and, unless it was given, --secure-port in `options`.
  static Result<Throwaway> make(Options& options);
  Throwaway(Throwaway&& other) noexcept : directory_(std::exchange(other.directory_, {})) {}
  Throwaway& operator=(Throwaway&&) = delete;
  ~Throwaway();

 private:
  explicit Throwaway(std::string directory) : directory_(std::move(directory)) {}
  std::string directory_;
};

// Requests a stop when the process that started this one ends, however it ends.
class ParentWatch {
 public:
  explicit ParentWatch(StopEvent& stop);
  ParentWatch(const ParentWatch&) = delete;
  ParentWatch& operator=(const ParentWatch&) = delete;
  ~ParentWatch();

 private:
  int parent_ = -1;  // a pidfd; -1 if the kernel has none: the parent is then not watched
  int end_ = -1;     // an eventfd that ends the thread
  std::thread thread_;
};

}  // namespace backplane
