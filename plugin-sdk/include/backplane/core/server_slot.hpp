// The server for which a thread works. A process may run several servers. Some state is separate for each server but is not passed as a
// parameter: metric values (metric_registry.hpp), the pool of run_blocking() (task.hpp), the log. Such state is looked up by the slot of
// the calling thread. The host sets the slot on each thread of a server. A function that is posted to a pool runs with the slot of the
// thread that has posted it. A thread that a plugin creates belongs to no server, unless it adopts the slot of the thread that creates it:
//
//   thread_ = std::thread([this, slot = current_server_slot()] {
//     const ServerScope server(slot);
//     …
//   });
//
// Thread-safety: any thread; a ServerScope is used only by the thread that created it.
// Lifetime:      a slot is free for another server as soon as its ServerIdentity is destroyed. A thread that still has the slot then works
//                for the next server that gets the slot.
// Errors:        none; an identity beyond kMostServers has the slot kNoServer.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// A slot from 1 to kMostServers is that of a server of this process. kNoServer is the slot of the process itself.
using ServerSlot = std::size_t;
inline constexpr ServerSlot kNoServer = 0;
inline constexpr std::size_t kMostServers = 15;

// The slot of the calling thread; kNoServer on a thread that belongs to no server.
ServerSlot current_server_slot() noexcept;
// A number that no other server of this process has had or will have. Returns 0 on a thread that belongs to no server.
std::uint64_t current_server_number() noexcept;

// The server owns it. The server constructs it before its threads and destroys it after they have ended.
class ServerIdentity {
 public:
  // Acquires a free slot.
  ServerIdentity() noexcept;
  ~ServerIdentity();
  ServerIdentity(const ServerIdentity&) = delete;
  ServerIdentity& operator=(const ServerIdentity&) = delete;

  ServerSlot slot() const noexcept { return slot_; }

 private:
  const ServerSlot slot_;
};

// Makes the calling thread work for the server with this slot until the object is destroyed.
//
//   const ServerScope server(identity.slot());
class ServerScope {
 public:
  explicit ServerScope(ServerSlot slot) noexcept;
  ~ServerScope();
  ServerScope(const ServerScope&) = delete;
  ServerScope& operator=(const ServerScope&) = delete;

 private:
  const ServerSlot previous_;
};

// One T for each server of the process, and one for the process itself. Declare it as a namespace-scope or static variable.
//
//   PerServer<std::atomic<int>> open;
//   ++open.here();
template <class T>
class PerServer {
 public:
  // The T of the calling thread's server.
  T& here() noexcept { return of(current_server_slot()); }
  T& of(ServerSlot slot) noexcept { return values_[slot]; }

 private:
  std::array<T, kMostServers + 1> values_{};
};

}  // namespace BACKPLANE_API
