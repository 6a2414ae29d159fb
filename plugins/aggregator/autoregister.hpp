// Keeps one APIService for each group version that this server serves, and sets the condition Available of each APIService
// (kube-aggregator's autoregistration and availability controllers).
// APIServices of custom resources (label automanaged: true) are always kept up to date. Those of groups that exist at startup (label
// onstart) are created, updated or removed once; after that users and other servers may change them. An informer caches the APIServices; a
// queue passes each APIService that has changed, or whose group version has changed, to one of many workers.
// Thread-safety: changed(), complete() and stop() from any thread; everything else on the host's executor.
// Lifetime:      its tasks share it, and end after stop().
// Errors:        a failed step is retried with growing pauses; it leaves no partial change.
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

// The action for an APIService, by the table of autoRegisterController.checkAPIService.
enum class Registration : unsigned char { kNothing, kCreate, kUpdate, kRemove };
struct RegistrationCase {
  bool exists = false;
  std::string_view label;    // the label automanaged of the existing APIService
  std::string_view desired;  // the label automanaged of the desired APIService; empty: none is desired
  bool synced = false;       // it has been synced successfully before
  bool was_there = false;    // it existed at startup
  bool spec_matches = false;
};
Registration registration(const RegistrationCase& now);

class Autoregister : public std::enable_shared_from_this<Autoregister> {
 public:
  Autoregister(Host& host, std::shared_ptr<StandardStorage> store, std::shared_ptr<Updater> status, std::shared_ptr<DynamicGroups> groups);

  // Each function starts the tasks of one part: the informer; the workers, which process the queue; the recording of served group versions.
  // They can be called in any order. When all plugins have registered their groups (Host::groups_complete), APIServices of group versions
  // that are not served are removed.
  void start_informer();
  void start_workers();
  void start_registration();
  void stop();
  // Returns the group versions that other servers serve.
  const std::shared_ptr<RemoteServices>& remotes() const noexcept { return remotes_; }
  // Waits until the informer has listed the APIServices; false if stop() is called before.
  Task<bool> wait_synced();
  // Waits until each group version of startup has its APIService; false if stop() is called before. Call it once.
  Task<bool> wait_complete();
  bool complete() const noexcept { return complete_.load(std::memory_order_acquire); }
  // Records group versions that are now served, or no longer served.
  void changed(const GroupVersionsChange& change);

 private:
  Task<void> begin();
  void note_all();
  void note_served();
  struct Wanted {
    std::optional<GroupVersionInfo> info;  // nullopt: this server does not serve the group version
    bool synced = false;                   // it has been processed successfully since its last change
    bool was_there = false;                // its APIService existed at startup
    bool was_wanted = false;               // it was served before, with other priorities or until it was withdrawn
    bool knows_custom = false;             // CustomResourceDefinitions are served here, so every custom group is known
  };
  Wanted wanted(const std::string& name);
  // Returns true if the change must wait because another server keeps reverting it. Then adds the name to the queue for a later time.
  bool waits(const std::string& name, Registration change);
  Task<Status> reconcile(std::string name);
  Task<Status> check(std::string name);
  Task<Status> create(GroupVersionInfo info);
  Task<Status> refresh_condition(Object object);
  // Writes the condition if it differs.
  Task<Status> write_condition(Object object, Availability wanted);
  Task<Status> report(std::string name, Availability availability);
  Task<Status> apply(Registration change, const std::string& name, Object& object, const std::optional<GroupVersionInfo>& info);
  Task<Status> correct(Object& object, const GroupVersionInfo& info);
  Task<Status> remove(std::string name, std::string uid);
  // True if the informer does not have the last write of this object yet.
  bool is_stale(const std::string& name);
  void settled(const std::string& name);

  Host& host_;
  const std::shared_ptr<StandardStorage> store_;
  const std::shared_ptr<Updater> status_;
  const std::shared_ptr<SharedInformer> apiservices_;
  const std::shared_ptr<WorkQueue> queue_;
  const std::shared_ptr<RemoteServices> remotes_;
  kit::RewritePause pauses_;
  std::map<std::string, Revision> written_;  // revisions of own writes that the informer may not have yet
  std::set<std::string> first_;              // group versions of startup whose APIService is not complete yet
  bool noted_ = false;                       // first_ has been filled
  std::atomic<bool> complete_{false};
  Promise<bool> completed_;

  std::mutex mutex_;  // guards the members below
  std::map<std::string, GroupVersionInfo> wanted_;
  std::set<std::string> synced_, was_there_, was_wanted_;
};

// Returns the status of the condition Available; empty: there is none.
std::string_view available_status(const Object& object);
// Returns the condition Available; its members are empty if there is none.
Availability availability_of(const Object& object);
// True if `object` has this condition already.
bool has_availability(const Object& object, const Availability& wanted);
void set_availability(Object& object, const Availability& wanted);
Availability local_availability();

// The metrics aggregator_unavailable_apiservice and …_total: record the availability of an APIService, the loss of its availability, and
// its removal.
void count_availability(const std::string& name, bool available);
void count_loss(const std::string& name, const std::string& reason);
void count_no_more(const std::string& name);

}  // namespace backplane
