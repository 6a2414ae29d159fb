// The plugins that run, their start order, and the order in which they get requests.
//
// Decisions depend on the descriptors alone, never on the order of files: the same set gives the same plan.
//   selection     every plugin without errors, except: disabled plugins, duplicates, plugins that require one that does not run, the
//   plugins
//                 of a cycle of requirements, plugins in conflict with one that runs, and, of a cycle of declared orders, the plugin
//                 that declares most of the cycle
//   start order   a plugin starts after those that it requires; ties by name
//   chain order   front to back, from the entries in_front_of and behind; "*" means all plugins without the same entry; a plugin precedes
//                 those that it requires, unless an entry orders them differently; ties by name
//
// Thread-safety: plan_plugins() is a function of its arguments.
// Errors:        findings PLG-DEP-…, PLG-PLAN-…, each with the plugin that it concerns; Plan::fatal has those that make startup fail.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "plugin/descriptor.hpp"

namespace backplane {

// The state of a plugin as reports show it.
enum class PluginState : unsigned char {
  kPlanned,    // will run
  kDisabled,   // switched off by --disable-plugin, or a store that is not used
  kRejected,   // the file, the descriptor or the stamp is invalid, or the plan excludes it
  kBlocked,    // a plugin that it requires does not run
  kFailed,     // a lifecycle call failed; rolled back
  kCommitted,  // runs
};
std::string_view state_name(PluginState state) noexcept;

struct PlanOptions {
  std::vector<std::string> disabled;          // --disable-plugin: names
  std::vector<std::string> required;          // --require-plugin: names
  std::vector<Capability> host_capabilities;  // what the host itself provides ("host", "sdk")
  // The store in use ("rocksdb"). Plugins that provide only other stores ("storage/NAME") are not loaded if a plugin provides this store.
  // Empty: the plugins of all stores are loaded.
  std::string storage = {};
  std::map<std::string, std::string> required_by_flags = {};  // name of a plugin → the flag that only this plugin reads
};

struct PlannedPlugin {
  InspectedPlugin inspected;
  PluginState state = PluginState::kPlanned;
  std::optional<std::size_t> blocked_by;  // index of the plugin whose absence blocks this one

  const std::string& name() const noexcept { return inspected.descriptor->name; }  // asserts a descriptor
  bool runs() const noexcept { return state == PluginState::kPlanned || state == PluginState::kCommitted; }
  // The code of the first error, empty when there is none.
  std::string_view code() const noexcept;
};

struct PlanEdge {
  enum class Kind : unsigned char { kRequires, kOptional, kInFrontOf, kBehind };
  Kind kind;
  std::size_t from, to;  // indexes into Plan::plugins; an edge of kBehind is stored in reverse: `from` is in front
  std::string range;     // of a requirement
};

struct Plan {
  std::vector<PlannedPlugin> plugins;    // in the given order, in any state
  std::vector<std::size_t> start_order;  // of those that run
  std::vector<std::size_t> chain;        // of those that run, front to back
  std::vector<PlanEdge> edges;           // between plugins that run
  Findings fatal;                        // a required plugin does not run
  Findings general;                      // about no plugin in particular
};

Plan plan_plugins(std::vector<InspectedPlugin> plugins, const PlanOptions& options);

// Plans again after lifecycle failures. Plugins in the state kFailed do not run, and neither do the plugins that require them.
void replan(Plan& plan, const PlanOptions& options);

}  // namespace backplane
