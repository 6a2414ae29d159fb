// The server that a thread works for. A process may run several servers. State that is separate for each server and that no parameter
// passes is found by the slot of the calling thread: metric values (metric_registry.hpp), the pool of run_blocking() (task.hpp), the log.
// The host sets the slot on each thread of a server, and a function that is posted to a pool runs with the slot of the thread that has
// posted it. A thread that a plugin creates itself belongs to no server, unless it adopts the slot of the thread that creates it:
//
//   thread_ = std::thread([this, slot = current_server_slot()] {
//     const ServerScope server(slot);
//     …
//   });
//
// Thread-safety: any thread; a ServerScope belongs to the thread that created it.
// Lifetime:      a slot is free for another server when its ServerIdentity has been destroyed. A thread that still has the slot then
//                works for the next server of it.
// Errors:        none; an identity beyond kMostServers has the slot kNoServer.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// 1 to kMostServers: a server of this process. kNoServer: the process itself.
using ServerSlot = std::size_t;
inline constexpr ServerSlot kNoServer = 0;
inline constexpr std::size_t kMostServers = 15;

// The slot of the calling thread; kNoServer on a thread that belongs to no server.
ServerSlot current_server_slot() noexcept;
// A number that no other server of this process has had or will have; 0 on a thread that belongs to no server.
std::uint64_t current_server_number() noexcept;

// Owned by the server. Construct it before the server's threads; destroy it after they have ended.
class ServerIdentity {
 public:
  // Takes a free slot.
  ServerIdentity() noexcept;
  ~ServerIdentity();
  ServerIdentity(const ServerIdentity&) = delete;
  ServerIdentity& operator=(const ServerIdentity&) = delete;

  ServerSlot slot() const noexcept { return slot_; }

 private:
  const ServerSlot slot_;
};

// Makes the thread work for one server until the object is destroyed.
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

// One T for each server of the process and one for the process itself; a namespace-scope or static variable.
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
