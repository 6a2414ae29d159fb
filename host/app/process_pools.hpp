// The threads that all servers of a process share: those of run_blocking() and those that large bodies are offloaded to.  They are made
// with the first server and end with the last.
//
// Thread-safety: join() and the end of a share from any thread.
// Lifetime:      what runs on the pools for a server has ended when the server gives up its share.
#pragma once

#include <memory>

#include "base/io_loop.hpp"
#include "base/offload_pool.hpp"

namespace backplane {

class ProcessPools {
 public:
  // A share of the pools.
  static std::shared_ptr<ProcessPools> join();
  Executor& blocking() noexcept { return blocking_; }

 private:
  ProcessPools();
  ~ProcessPools();

  BlockingPool blocking_;
  OffloadPool offload_;
};

}  // namespace backplane
