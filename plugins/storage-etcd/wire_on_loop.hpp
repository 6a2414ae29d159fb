// A loop's own connections to etcd: who asks there is answered there, and no other thread is woken for it.
//
// Thread-safety: as of the wire; add() and stop() on the loop, unless it has ended.
// Lifetime:      work that waits on the loop holds it.
// Errors:        none of its own.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "backplane/net/io_executor.hpp"
#include "wire.hpp"

namespace backplane::etcd {

class WireOnLoop final : public Wire, public std::enable_shared_from_this<WireOnLoop> {
 public:
  explicit WireOnLoop(IoExecutor& loop) : loop_(loop) {}

  void post(std::function<void()> work) override { loop_.post(std::move(work)); }
  void look_by(Clock::time_point due) override;
  void stop() override { users_.clear(); }
  void add(User& user) override;
  void watch(int socket, User& user, bool writes) override;
  void change(int socket, User& user, bool writes) override;
  void forget(int socket) override;

 private:
  struct Watched {
    std::unique_ptr<DescriptorWatch> events;
    User* user = nullptr;
    bool wants_to_write = false;
    bool waits_to_write = false;
  };
  using WatchedRef = std::shared_ptr<Watched>;
  void wait_to_read(int socket, const WatchedRef& watched);
  void wait_to_write(int socket, const WatchedRef& watched);
  void want_to_write(int socket, bool wants);
  bool tell(int socket, const WatchedRef& watched, std::uint32_t events);
  void look();

  IoExecutor& loop_;
  std::vector<User*> users_;
  std::unordered_map<int, WatchedRef> watched_;
  Clock::time_point sleeps_until_ = Clock::time_point::max();
  std::function<void()> cancel_alarm_;
};

}  // namespace backplane::etcd
