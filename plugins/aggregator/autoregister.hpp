// Keeps one APIService for each group version that this server serves, and says of each APIService whether it can be reached.
//
// Thread-safety: changed() from any thread; everything else on the host's executor, one pass at a time.
// Lifetime:      shared by the hook, the health check and the task that runs it; run() returns when the stop signal fires.
// Errors:        a pass that fails is logged and tried again; it changes nothing that it could not finish.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include <backplane/host.hpp>

namespace backplane {

// Wakes a waiting task; wakes given while nobody waits are kept as one.
class Wakeup {
 public:
  void give();
  Task<void> wait();

 private:
  std::mutex mutex_;
  bool given_ = false;
  std::unique_ptr<Promise<bool>> waiter_;
};

class Autoregister : public std::enable_shared_from_this<Autoregister> {
 public:
  Autoregister(Host& host, std::shared_ptr<StandardStorage> store, std::shared_ptr<Updater> status)
      : host_(host), store_(std::move(store)), status_(std::move(status)) {}

  // One pass: registers what is missing, corrects what differs, removes what nobody serves any more, refreshes conditions.
  Task<Status> sync();
  // Passes until the stop signal fires, one for each change of the served group versions or of an APIService.
  Task<void> run();
  // Wakes run() for every change of an APIService made by somebody else.
  Task<void> watch();
  void changed() { wakeup_.give(); }
  // The first pass is over: every local group version has its APIService.
  bool complete() const noexcept { return complete_.load(std::memory_order_acquire); }

 private:
  Task<Status> register_version(GroupVersionInfo info, const Object* existing);
  Task<Status> remove(std::string name);
  Task<Status> refresh_condition(Object object);

  Host& host_;
  std::shared_ptr<StandardStorage> store_;
  std::shared_ptr<Updater> status_;
  Wakeup wakeup_;
  std::atomic<bool> complete_{false};
};

// The condition Available that `object` should have; `served` says whether its group version is served here.
struct Availability {
  std::string status, reason, message;
};
Availability availability_of_apiservice(const Object& object);
// True when `object` has this condition already.
bool has_availability(const Object& object, const Availability& wanted);
void set_availability(Object& object, const Availability& wanted);

}  // namespace backplane
