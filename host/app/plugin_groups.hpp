// The API groups of plugins, recorded in the store, so that the groups of a plugin that does not run are still served.
//
// One key for each plugin, /registry/plugins.backplane.dev/groups/NAME. A server writes it when the plugin's groups come into service, so
// that every server of the store serves the groups of a plugin that only some of them have. In-tree plugins have no key: they cannot be
// missing, and if an operator disables one of them, its groups are not served.
//
// Thread-safety: targets() by one thread at a time, the other methods from any thread.
// Lifetime:      outlives its tasks and the router.
// Errors:        those of the store.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backplane/points/hooks.hpp"
#include "backplane/points/storage.hpp"
#include "plugin/plugin_registry.hpp"
#include "plugin/retained_groups.hpp"

namespace backplane {

class PluginGroups {
 public:
  explicit PluginGroups(StoreEnvironment& stores) : stores_(stores) {}

  // Reads the groups from the store. Returns the revision of the read.
  Task<Result<Revision>> read(StorageBackend& store);
  // Records the snapshots of the running plugins; returns the writes that the store needs.
  std::vector<Put> remember(const std::vector<PluginSnapshot>& running);
  static Task<Status> write(StorageBackend& store, std::vector<Put> puts);
  // Follows the store until `stop` fires, and calls `changed` after each change of the groups, for example by another server.
  Task<void> follow(StorageBackend& store, Signal& stop, std::function<Task<void>()> changed);
  Task<Status> forget(StorageBackend& store, std::string plugin);

  // `name`: the whole name of a plugin, or its last part if only one plugin has it. Null: no groups of the plugin are recorded.
  std::shared_ptr<const PluginSnapshot> find(const std::string& name) const;
  // Makes delegation targets for the groups of the plugins that have no delegate in `rows`.
  using AbsenceOf = std::function<PluginAbsence(const PluginSnapshot& snapshot)>;
  std::vector<TargetRef> targets(const PluginRows& rows, const AbsenceOf& absence_of, const IsServed& is_served);
  // The snapshots of the plugins that have no delegate in `rows`.
  std::vector<std::shared_ptr<const PluginSnapshot>> absent_from(const PluginRows& rows) const;

 private:
  struct Known {
    std::string text;
    std::shared_ptr<const PluginSnapshot> snapshot;
  };
  struct Made {
    std::shared_ptr<const PluginSnapshot> snapshot;
    PluginAbsence absence;
    TargetRef target;
  };
  // The caller holds mutex_. take() and drop() return true if they have changed known_.
  bool take(const std::string& key, std::string_view text);
  bool drop(const std::string& key);
  void apply(const EventBatch& batch);
  std::size_t changes() const;

  StoreEnvironment& stores_;
  mutable std::mutex mutex_;
  std::map<std::string, Known> known_;  // by plugin
  std::size_t changes_ = 0;             // number of changes of known_
  std::map<std::string, Made> made_;    // the last result of targets(), which alone uses it
};

}  // namespace backplane
