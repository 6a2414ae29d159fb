// The pools of one server: the threads of run_blocking(), and the threads that process large bodies. Servers of one process share no pool,
// so calls that block one server delay no request of another.
//
// Thread-safety: constructed on a thread of the server and destroyed on any; the accessors from any thread.
// Lifetime:      when the pools are destroyed, work that runs on them has ended, or ends without waiting for other threads of the server.
//                Work that is still queued is dropped.
// Errors:        none.
#pragma once

#include <cstddef>

#include "backplane/core/server_slot.hpp"
#include "base/io_loop.hpp"
#include "base/offload_pool.hpp"

namespace backplane {

// Threads of each pool, at least 1.
struct PoolSizes {
  std::size_t blocking;
  std::size_t offload;
};

class ServerPools {
 public:
  // Starts the threads; run_blocking() and OffloadIfLarge use them from here on in this server.
  explicit ServerPools(PoolSizes sizes);
  // Joins the threads.
  ~ServerPools();
  ServerPools(const ServerPools&) = delete;
  ServerPools& operator=(const ServerPools&) = delete;

  Executor& blocking() noexcept { return blocking_; }
  OffloadPool& offload() noexcept { return offload_; }

 private:
  const ServerSlot server_ = current_server_slot();
  BlockingPool blocking_;
  OffloadPool offload_;
};

}  // namespace backplane
