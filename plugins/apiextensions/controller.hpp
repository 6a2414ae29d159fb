// Follows the definitions: accepts their names, serves what is established, and lets go of what has been deleted
// (naming, establishing, approval and finalizing controllers of k8s.io/apiextensions-apiserver in one loop).
//
// Thread-safety: run() is one task; stop() from any thread.
// Lifetime:      outlives its tasks; the host waits for them at shutdown.
// Errors:        are logged; the loop begins anew from a list after a pause.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
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
    Object crd;
    Revision revision = 0;
    InstalledRef installed;  // null: not served
  };
  using Entries = std::map<std::string, Entry, std::less<>>;

  Task<Status> follow();
  Task<Result<Revision>> load();
  Task<void> take(std::vector<WatchEvent> events);
  Task<void> settle_pending();
  Task<void> settle(std::string name);
  // Stores a change of the definition through /status.  `uid`: of the one meant; empty: whichever has the name.
  Task<Result<ObjectRef>> write(std::string name, std::string uid, std::function<void(Object&)> change);
  void note(const ObjectEntry& entry);
  void forget(const std::string& name);
  void queue_group(std::string_view group);
  TakenNames taken_names(std::string_view group) const;
  void serve(Entry& entry);
  void publish();
  // Deletion of a definition's objects, each in a task of its own that touches nothing of the loop's.
  void begin_cleanup(const std::string& name, const Entry& entry);
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
  std::set<std::string> pending_;  // names to look at
  bool changed_ = false;           // what is served differs from what is published

  std::atomic<bool> stopping_{false};
  std::mutex mutex_;  // what follows
  std::set<std::string> cleaning_;
  std::vector<std::weak_ptr<WatchStream>> streams_;
  std::vector<Promise<bool>> pauses_;
};

}  // namespace backplane::apiextensions
