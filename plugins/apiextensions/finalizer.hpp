// Deletion of a definition: removes every object of the resource, then the definition's finalizer (CRDFinalizer).
//
// A definition whose objects have finalizers waits until an informer reports that the last of them is removed; meanwhile it occupies no
// worker.
// Thread-safety: stop() from any thread; everything else on the host's executor.
// Lifetime:      shared by its tasks, which end after stop().
// Errors:        failures are logged at debug, are reported in the definition's condition Terminating, and are retried with growing pauses.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "backplane/core/work_queue.hpp"
#include "backplane/net/informer.hpp"
#include "definition_status.hpp"
#include "installed_definition.hpp"

namespace backplane::apiextensions {

class Finalizer : public std::enable_shared_from_this<Finalizer> {
 public:
  Finalizer(Host& host, DefinitionStatus status);

  void start();
  void stop();
  // Call it for a definition that is being deleted. `installed`: the storages; null: the definition was never established. A repeated call
  // with the same arguments has no effect.
  void take(const std::string& name, std::string uid, InstalledDefinitionRef installed);
  // Call it when the definition has been deleted.
  void drop(const std::string& name);

 private:
  struct Deletion {
    std::string uid;
    InstalledDefinitionRef installed;
    std::shared_ptr<SharedInformer> rest;  // the remaining objects; null while the finalizer does not wait for them
  };
  Task<Status> reconcile(std::string name);
  static Task<Status> remove_objects(InstalledDefinitionRef installed);
  // Whether no objects are left. If some are, starts an informer, which adds the name to the queue when the last object is removed.
  Task<Result<bool>> has_no_objects(std::string name, InstalledDefinitionRef installed);
  std::shared_ptr<SharedInformer> follow(const std::string& name, const InstalledDefinitionRef& installed,
                                         const std::shared_ptr<StandardStorage>& store);

  Host& host_;
  const DefinitionStatus status_;
  const std::shared_ptr<WorkQueue> queue_;
  std::map<std::string, Deletion> deletions_;
};

}  // namespace backplane::apiextensions
