// The one thread on which connections to etcd are read, and what comes over them is told: of every server, call and watch of a cluster.
//
// Thread-safety: any thread, but what says otherwise.
// Lifetime:      what is posted runs before the destructor returns, or not at all; users have taken themselves off by then.
// Errors:        none of its own.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

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

  Wire();
  ~Wire();
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  // Runs `work` on the thread, soon.
  void post(std::function<void()> work);
  // The same after `delay`; rung early by at_once().
  std::uint64_t after(std::chrono::milliseconds delay, std::function<void()> work);
  void at_once(std::uint64_t alarm);
  // Users that are to look at `due` at the latest.
  void look_by(Clock::time_point due);
  // Ends the thread; what is posted afterwards is dropped.
  void stop();

  void add(User& user);  // it stays until stop()

  // ---- on the thread of the wire
  void watch(int socket, User& user, bool writes);
  void change(int socket, User& user, bool writes) const;  // any thread
  void forget(int socket);

 private:
  struct Alarm {
    std::uint64_t id = 0;
    std::function<void()> work;
  };
  void run();
  void wake() const;
  int wait_for() const;
  bool run_posted();
  void run_alarms();

  const int poll_, wake_;
  std::mutex mutex_;
  std::vector<User*> users_;
  std::vector<std::function<void()>> posted_;
  std::multimap<Clock::time_point, Alarm> alarms_;
  std::uint64_t last_alarm_ = 0;
  bool stopped_ = false;
  std::atomic<Clock::rep> sleeps_until_{Clock::time_point::max().time_since_epoch().count()};
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace backplane::etcd
