// Processes definitions: accepts their names, serves established ones, and removes the objects of deleted ones (the naming, establishing,
// approval and finalizing controllers of k8s.io/apiextensions-apiserver).
// An informer caches the definitions; a queue passes each changed one to one of many workers. The cost of a change does not depend on the
// number of definitions: names are looked up in an index of their group, one resource is published, and statuses are written concurrently.
// Servers that disagree about a definition overwrite each other's conditions after growing pauses (kit::RewritePause).
// Thread-safety: stop() from any thread; everything else on the host's executor.
// Lifetime:      shared by its tasks, which end after stop().
// Errors:        failures are logged, and the failed work is retried with growing pauses.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "backplane/core/work_queue.hpp"
#include "backplane/kit/rewrite_pause.hpp"
#include "backplane/net/informer.hpp"
#include "definition_status.hpp"
#include "finalizer.hpp"
#include "name_index.hpp"
#include "serving.hpp"
#include "verdict.hpp"

namespace backplane::apiextensions {

class Controller : public std::enable_shared_from_this<Controller> {
 public:
  struct Parts {
    Host* host = nullptr;
    std::shared_ptr<StandardStorage> definitions;
    std::shared_ptr<SubresourceStorage> status;
    std::shared_ptr<DynamicGroups> groups;
    std::shared_ptr<ServiceResolver> services;  // for conversion webhooks
    std::shared_ptr<Signal> synced;             // fires when all definitions that were established at startup are served
    // The delay between the acceptance of the names and the condition Established. During the delay other servers begin to serve it.
    std::chrono::nanoseconds establishing_delay{0};
  };
  explicit Controller(Parts parts);

  // Spawns the informer of the definitions. Call it once.
  void start_informer();
  // Spawns the workers, which begin when the informer is synced. Call it once.
  void start();
  // Spawns the task that enqueues every definition every five minutes.  Call it once.
  void start_resync();
  void stop();

 private:
  struct Entry {
    ObjectRef stored;   // the newest known revision: from the informer, or from a write of this object
    bool seen = false;  // that revision has been processed completely
    std::string uid;    // detects that the definition was replaced by one of the same name
    // The time from which the definition may be established; nullopt: the delay has not begun.
    std::optional<std::chrono::steady_clock::time_point> may_establish = std::nullopt;
    std::optional<std::int64_t> structure_checked = std::nullopt;  // the generation whose schemas the status describes
  };
  // The status changes that look() has computed and write() makes.
  struct Todo {
    std::string uid;
    std::int64_t generation = 0;
    Verdict verdict;
  };

  // Waits for the informer, serves all definitions that exist at startup, and then starts the workers.
  Task<void> begin();
  void serve_all();
  Task<Status> reconcile(std::string name);
  // Replaces the condition Established by the reason Installing if the names are just being accepted. Removes the condition from the
  // verdict until the establishing delay has passed, and enqueues the name for that time.
  void defer_gated_kinds(const std::string& name, Entry& entry, Verdict& verdict);
  Task<Status> write(std::string name, Todo todo);
  // Whether the write must wait because another server keeps reverting it; if so, the name is queued again later.
  bool waits(const std::string& name, const Todo& todo);
  void take_written(const std::string& name, Entry& entry, ObjectRef written, std::int64_t generation);
  // Marks the definition as not processed, so that the next reconcile() does not skip it.
  void check_again(const std::string& name);
  // Stores `known` if it is newer. Returns true if the newest revision has not been processed.
  bool renew(const std::string& name, ObjectRef known);
  // Updates the names and the served resource, and returns the status changes. `crd`: the tree of entry.stored.
  Todo look(const std::string& name, Entry& entry, Object crd);
  // The revision of the informer's state, which is a lower bound of the store's revision.
  Revision newest() const;
  void forget(const std::string& name);
  void index(const std::string& name, const Object& crd);
  void requeue(const NameIndex::Freed& names);

  Parts parts_;
  const DefinitionStatus status_;
  const std::shared_ptr<SharedInformer> definitions_;
  const std::shared_ptr<WorkQueue> queue_;
  const std::shared_ptr<Finalizer> finalizer_;
  Serving serving_;
  NameIndex names_;
  kit::RewritePause pauses_;
  std::unordered_map<std::string, Entry> entries_;
};

}  // namespace backplane::apiextensions
