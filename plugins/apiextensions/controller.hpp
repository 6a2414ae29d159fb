// Follows the definitions: accepts their names, serves what is established, and lets go of what has been deleted
// (naming, establishing, approval and finalizing controllers of k8s.io/apiextensions-apiserver in one loop).  A change costs what it
// changes: names are looked up in an index of their group, one resource is published, and statuses are written side by side.
//
// Thread-safety: run() is one task; stop() from any thread.
// Lifetime:      outlives its tasks; the host waits for them at shutdown.
// Errors:        are logged; the loop begins anew from a list after a pause.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "installed.hpp"
#include "naming.hpp"

namespace backplane::apiextensions {

class Controller : public std::enable_shared_from_this<Controller> {
 public:
  struct Parts {
    Host* host = nullptr;
    std::shared_ptr<StandardStorage> definitions;
    std::shared_ptr<RestStorage> status;
    std::shared_ptr<DynamicGroups> groups;
    std::shared_ptr<Signal> synced;  // fired when everything established at start is served
  };
  explicit Controller(Parts parts) : parts_(std::move(parts)) {}

  // Until the host stops.
  Task<void> run();
  void stop();

 private:
  struct Entry {
    ObjectRef stored;   // the newest revision seen
    std::string group;  // what follows is kept in groups_, too
    GivenNames names;
    bool settled = false;    // it has the names it asks for
    InstalledRef installed;  // null: not served
  };
  using Entries = std::map<std::string, Entry, std::less<>>;
  // What the definitions of a group must know of each other.
  struct Group {
    TakenNames taken;
    std::set<std::string> unsettled;
  };
  // What one look at a definition wants its status to be; nothing: as it is.
  struct Verdict {
    std::optional<Object> accepted_names;
    std::vector<Condition> conditions;
    bool empty() const { return !accepted_names && conditions.empty(); }
    void apply(Object& crd) const;
  };
  struct Write {
    std::string name;
    Verdict verdict;
    Result<ObjectRef> written = internal_error("not written");
  };
  static Verdict judge(const Object& crd, const TakenNames& taken);

  Task<Status> follow();
  Task<Result<Revision>> load();
  Task<void> take(std::vector<WatchEvent> events);
  // Looks at every pending definition; what is to be served is, before a status says so.
  Task<void> settle_pending();
  void settle(const std::string& name, std::vector<Write>& writes);
  Task<void> write_all(std::vector<Write> writes);
  Task<void> write_one(Write& write);
  void finish(Write& write);
  // Stores a change of the definition through /status.  `uid`: of the one meant; empty: whichever has the name.
  Task<Result<ObjectRef>> write(std::string name, std::string uid, std::function<void(Object&)> change);
  void note(ObjectRef entry);
  void forget(const std::string& name);
  // Brings the group's names up to date with what the definition says.
  void index(const std::string& name, Entry& entry, const Object& crd);
  void unindex(const std::string& name, const Entry& entry);
  void serve(Entry& entry, const Object& crd);
  void retire(Entry& entry);
  void publish();
  void publish_each(GroupsChange change);
  // Deletion of a definition's objects, each in a task of its own that touches nothing of the loop's.
  void begin_cleanup(const std::string& name, const Entry& entry, const Object& crd);
  Task<void> cleanup(std::string name, std::string uid, InstalledRef installed);
  Task<Status> clean_once(std::string name, std::string uid, InstalledRef installed);
  Task<Status> remove_instances(InstalledRef installed);
  bool stopping() const { return stopping_.load(std::memory_order_acquire); }

  // A stream that stop() ends.
  Task<Result<std::shared_ptr<WatchStream>>> open_stream(StandardStorage& storage, Revision after);
  // Waits, or less when the host stops.
  Task<void> pause(std::chrono::milliseconds delay);

  Parts parts_;
  Entries entries_;
  std::unordered_map<std::string, Group> groups_;
  std::set<std::string> pending_;      // names to look at
  GroupsChange change_;                // made, and not published yet
  std::vector<InstalledRef> retired_;  // to be let go of when that is published
  bool published_ = false;             // what was there at the start has been

  std::atomic<bool> stopping_{false};
  std::mutex mutex_;  // what follows
  std::set<std::string> cleaning_;
  std::vector<std::weak_ptr<WatchStream>> streams_;
  std::vector<Promise<bool>> pauses_;
};

}  // namespace backplane::apiextensions
