// Follows the definitions: accepts their names, serves what is established, and has what was deleted cleaned up (the naming, establishing,
// approval and finalizing controllers of k8s.io/apiextensions-apiserver).
//
// An informer keeps the definitions, a queue hands each that has changed to one of many workers.  A change costs what it changes: names are
// looked up in an index of their group, one resource is published, and statuses are written side by side.  Servers that judge a definition
// otherwise overwrite each other's conditions after growing pauses (kit::RewritePause).
// Thread-safety: stop() from any thread; everything else on the host's executor.
// Lifetime:      its tasks keep it, and end after stop().
// Errors:        are logged, and what they kept from being done is tried again, later each time.
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
    std::shared_ptr<Signal> synced;             // fired when everything established at start is served
    // The time after the names are accepted at which a definition is established: the other servers begin to serve it meanwhile.
    std::chrono::nanoseconds establishing_delay{0};
  };
  explicit Controller(Parts parts);

  // Spawns the informer of the definitions.  Once.
  void start_informer();
  // Spawns the tasks that do the work, which begins when the informer is synced.  Once.
  void start();
  // Spawns the task that enqueues every definition every five minutes.  Call it once.
  void start_resync();
  void stop();

 private:
  struct Entry {
    ObjectRef stored;   // the newest revision known: the informer's, or one that was written here
    bool seen = false;  // nothing is left to do for that revision
    std::string uid;    // a definition of the same name may follow unseen
    // When it may be established; nothing: the wait has not begun.
    std::optional<std::chrono::steady_clock::time_point> may_establish = std::nullopt;
    std::optional<std::int64_t> structure_judged = std::nullopt;  // the generation whose schemas the status describes
  };
  // The remaining work for a definition after a pass.
  struct Todo {
    std::string uid;
    std::int64_t generation = 0;
    Verdict verdict;
  };

  // Until everything known at the start is served; then the workers begin.
  Task<void> begin();
  void serve_all();
  Task<Status> reconcile(std::string name);
  // Removes "established" from the verdict until its time has come, and schedules the definition again.
  void defer_gated_kinds(const std::string& name, Entry& entry, Verdict& verdict);
  Task<Status> write(std::string name, Todo todo);
  // Whether the write has to wait because another server keeps reverting it; if so, the name comes back.
  bool waits(const std::string& name, const Todo& todo);
  void take_written(const std::string& name, Entry& entry, ObjectRef written, std::int64_t generation);
  // True if the known state does not allow skipping it.
  void judge_again(const std::string& name);
  // True if the newest revision has not been processed.
  bool renew(const std::string& name, ObjectRef known);
  // `crd`: the tree of what is stored.
  Todo look(const std::string& name, Entry& entry, Object crd);
  // The revision that the store has at least.
  Revision newest() const;
  void forget(const std::string& name);
  void index(const std::string& name, const Object& crd);
  void look_again(const NameIndex::Freed& names);

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
