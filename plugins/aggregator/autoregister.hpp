// Keeps one APIService for each group version that this server serves, and sets the condition Available of each APIService
// (kube-aggregator's autoregistration and availability controllers).
//
// APIServices of custom resources (label automanaged: true) are kept as they are to be; those of groups that this server has from its start
// (label onstart) are made, changed or removed once, and then belong to the user and to other servers over the store.
// An informer keeps the APIServices; a queue hands each that has changed, or whose group version has, to one of many workers.
// Thread-safety: changed() and stop() from any thread, complete() too; everything else on the host's executor.
// Lifetime:      its tasks keep it, and end after stop().
// Errors:        what fails is tried again, later each time; it changes nothing that it could not finish.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include <backplane/core/work_queue.hpp>
#include <backplane/host.hpp>
#include <backplane/kit/rewrite_pause.hpp>
#include <backplane/net/informer.hpp>
#include "backplane/rest/standard_storage.hpp"

#include "remote_services.hpp"

namespace backplane {

// The action for an APIService; the table is autoRegisterController.checkAPIService's.
enum class Registration : unsigned char { kNothing, kCreate, kUpdate, kRemove };
struct RegistrationCase {
  bool exists = false;
  std::string_view label;    // automanaged of the one that exists
  std::string_view desired;  // automanaged of the one that is wanted; empty: none is
  bool synced = false;       // it has been synced successfully before
  bool was_there = false;    // it existed at the start
  bool spec_matches = false;
};
Registration registration(const RegistrationCase& now);

class Autoregister : public std::enable_shared_from_this<Autoregister> {
 public:
  Autoregister(Host& host, std::shared_ptr<StandardStorage> store, std::shared_ptr<Updater> status, std::shared_ptr<DynamicGroups> groups);

  // Each spawns the tasks of a part, in any order: the informer; the workers that look at one APIService after the other; noting what is
  // served here, now and later.  APIServices of others are removed once all plugins have registered their groups (Host::groups_complete).
  void start_informer();
  void start_workers();
  void start_registration();
  void stop();
  // Those of other servers.
  const std::shared_ptr<RemoteServices>& remotes() const noexcept { return remotes_; }
  // Waits until the informer has listed the APIServices; false when stopped before.
  Task<bool> wait_synced();
  // Waits until everything served at the start has its APIService; false when stopped before.  Once.
  Task<bool> wait_complete();
  bool complete() const noexcept { return complete_.load(std::memory_order_acquire); }
  // Notes what has come to be served, or has ceased to be.
  void changed(const GroupVersionsChange& change);

 private:
  Task<void> begin();
  void note_all();
  void note_served();
  struct Wanted {
    std::optional<GroupVersionInfo> info;  // nothing: no server of this process serves it
    bool synced = false;                   // it has been looked at successfully since that is so
    bool was_there = false;                // at the start
    bool was_wanted = false;               // otherwise, or before it went
    bool knows_custom = false;             // CustomResourceDefinitions are served here, so every custom group is known
  };
  Wanted wanted(const std::string& name);
  // Whether the change has to wait because another server keeps reverting it; if so, the name comes back.
  bool waits(const std::string& name, Registration change);
  Task<Status> reconcile(std::string name);
  Task<Status> check(std::string name);
  Task<Status> create(GroupVersionInfo info);
  Task<Status> refresh_condition(Object object);
  // That of one whose group version is served from here, or whose server has been looked at.
  Task<Status> write_condition(Object object, Availability wanted);
  Task<Status> report(std::string name, Availability availability);
  Task<Status> apply(Registration change, const std::string& name, Object& object, const std::optional<GroupVersionInfo>& info);
  Task<Status> correct(Object& object, const GroupVersionInfo& info);
  Task<Status> remove(std::string name, std::string uid);
  // The informer does not know yet what was written here.
  bool is_stale(const std::string& name);
  void settled(const std::string& name);

  Host& host_;
  const std::shared_ptr<StandardStorage> store_;
  const std::shared_ptr<Updater> status_;
  const std::shared_ptr<SharedInformer> apiservices_;
  const std::shared_ptr<WorkQueue> queue_;
  const std::shared_ptr<RemoteServices> remotes_;
  kit::RewritePause pauses_;
  std::map<std::string, Revision> written_;  // newer than what the informer knew then
  std::set<std::string> first_;              // of the start, and not settled yet
  bool noted_ = false;                       // first_ is known
  std::atomic<bool> complete_{false};
  Promise<bool> completed_;

  std::mutex mutex_;  // what follows
  std::map<std::string, GroupVersionInfo> wanted_;
  std::set<std::string> synced_, was_there_, was_wanted_;
};

// The condition's status; empty: there is none.
std::string_view available_status(const Object& object);
// Empty members: there is none.
Availability availability_of(const Object& object);
// True when `object` has this condition already.
bool has_availability(const Object& object, const Availability& wanted);
void set_availability(Object& object, const Availability& wanted);
Availability local_availability();

// The metrics aggregator_unavailable_apiservice and …_total: what has been found of the APIService, that it was available and is no longer,
// that it has gone.
void count_availability(const std::string& name, bool available);
void count_loss(const std::string& name, const std::string& reason);
void count_no_more(const std::string& name);

}  // namespace backplane
