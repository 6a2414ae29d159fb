// Where connections to etcd are read, and what comes over them is told.
//
// Thread-safety: any thread, but what says otherwise.
// Lifetime:      users have taken themselves off before the wire goes.
// Errors:        none of its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

namespace backplane::etcd {

class Wire {
 public:
  using Clock = std::chrono::steady_clock;
  // Who has a socket here, or is to look at the clock.  On the thread of the wire; must not block.
  class User {
   public:
    virtual void ready(std::uint32_t events) = 0;
    // When it wants to look again; at least that often it does.
    virtual Clock::time_point look(Clock::time_point now) = 0;

   protected:
    ~User() = default;
  };

  virtual ~Wire() = default;
  // Runs `work` on the thread, soon.
  virtual void post(std::function<void()> work) = 0;
  // Users that are to look at `due` at the latest.
  virtual void look_by(Clock::time_point due) = 0;
  // Nobody is told anything any more.
  virtual void stop() = 0;
  virtual void add(User& user) = 0;  // it stays until stop()

  // ---- on the thread of the wire
  virtual void watch(int socket, User& user, bool writes) = 0;
  virtual void change(int socket, User& user, bool writes) = 0;  // any thread, of a wire that has one
  virtual void forget(int socket) = 0;
};

}  // namespace backplane::etcd
