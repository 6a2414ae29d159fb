// Keeps one APIService for each group version that this server serves, and says of each APIService whether it can be reached.
// A change costs what it changes: each APIService is looked at by its name, many at once.
//
// Thread-safety: changed() from any thread; everything else on the host's executor.
// Lifetime:      shared by the hook, the health check and the tasks that run it; run() returns when the stop signal fires.
// Errors:        what fails is logged and tried again; it changes nothing that it could not finish.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include <backplane/host.hpp>

#include "remote_services.hpp"

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
  Autoregister(Host& host, std::shared_ptr<StandardStorage> store, std::shared_ptr<Updater> status, std::shared_ptr<DynamicGroups> groups)
      : host_(host), store_(std::move(store)), status_(std::move(status)), remotes_(host.logger(), std::move(groups)) {}

  // The first pass: registers what is missing and corrects what differs.  What nobody serves any more is removed once everybody has said
  // what there is (Host::groups_complete).
  Task<Status> start(LoopbackClient& client);
  // Looks at what has been noted, until the stop signal fires.
  Task<void> run();
  // Notes every change of an APIService, until the stop signal fires.
  Task<void> watch();
  // Looks again, now and then, at those that another server answers for.
  Task<void> recheck();
  // Notes what has come to be served, or has ceased to be.
  void changed(const GroupVersionsChange& change);
  void wake() { wakeup_.give(); }
  // The first pass is over: every local group version has its APIService.
  bool complete() const noexcept { return complete_.load(std::memory_order_acquire); }

 private:
  void want(const GroupVersionInfo& info);  // with mutex_ held
  // Every APIService there is becomes dirty.
  Task<Status> note_all();
  // Looks at everything dirty, many names at once.
  Task<Status> settle();
  Task<void> settle_one(std::string name, Status& out);
  Task<Status> check(std::string name);
  Task<Status> create(GroupVersionInfo info);
  Task<Status> refresh_condition(Object object);
  Task<Availability> availability(const Object& object);
  Task<Status> remove(std::string name, std::string uid);

  Host& host_;
  std::shared_ptr<StandardStorage> store_;
  std::shared_ptr<Updater> status_;
  RemoteServices remotes_;
  Wakeup wakeup_;
  std::atomic<bool> complete_{false};

  std::mutex mutex_;  // what follows
  std::map<std::string, GroupVersionInfo> wanted_;
  std::set<std::string> dirty_;  // names to look at
};

// True when `object` has this condition already.
bool has_availability(const Object& object, const Availability& wanted);
void set_availability(Object& object, const Availability& wanted);

}  // namespace backplane
