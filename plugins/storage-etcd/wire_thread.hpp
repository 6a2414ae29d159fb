// A thread for connections to etcd: of every server, call and watch of a cluster.
//
// Thread-safety: as of the wire.
// Lifetime:      what is posted runs before the destructor returns, or not at all.
// Errors:        none of its own.
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "wire.hpp"

namespace backplane::etcd {

class WireThread final : public Wire {
 public:
  WireThread();
  ~WireThread() override;
  WireThread(const WireThread&) = delete;
  WireThread& operator=(const WireThread&) = delete;

  void post(std::function<void()> work) override;
  // The same after `delay`; rung early by at_once().
  std::uint64_t after(std::chrono::milliseconds delay, std::function<void()> work);
  void at_once(std::uint64_t alarm);
  void look_by(Clock::time_point due) override;
  // Ends the thread; what is posted afterwards is dropped.
  void stop() override;
  void add(User& user) override;
  void watch(int socket, User& user, bool writes) override;
  void change(int socket, User& user, bool writes) override;  // any thread
  void forget(int socket) override;

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
