// Loads the plugins of a server and gives what they registered: the delegation chain front to back, and every other extension point.
//
//   open_plugins(): inspect → check → plan → load
//   load_plugins(): configure → provision into staging → validate → commit all at once
//
// A plugin that fails on the way is rolled back together with those that require it, and the others go on; a failure of one that was
// required ends the start.
// Thread-safety: each of the two runs on one thread; a PluginSet is then only read.
// Lifetime:      a PluginSet owns the plugins.  Destroy it after the router, the hooks and every task of the plugins are gone.
// Errors:        kInternalError when a required plugin does not run; the message is the report.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "admission/equivalents.hpp"
#include "backplane/host.hpp"
#include "backplane/net/client.hpp"
#include "backplane/points/peers.hpp"
#include "backplane/points/request_gate.hpp"
#include "base/task_group.hpp"
#include "plugin/planner.hpp"
#include "registry/store.hpp"
#include "routing/delegation.hpp"
#include "security/asked_later.hpp"

namespace backplane {

struct PluginOptions {
  std::vector<std::string> directories;  // --plugin-dir; files *.so, by directory and then by name
  std::vector<std::string> disabled;     // --disable-plugin
  std::vector<std::string> required;     // --require-plugin
  std::string generation_dir;            // where private copies stand (<data-dir>/plugins-gen); empty: a temporary directory
  std::string storage = {};              // the store in use; empty: plugins of all stores are loaded
};

// What plugins get through the SDK's Host.  References outlive the PluginSet.
struct HostServices {
  StoreEnvironment& stores;
  // A plugin's own executor.
  std::function<Executor&(const std::string& plugin)> executor_of;
  TaskGroup& tasks;
  Signal& stop;
  // A host flag's value by its name; nothing when unset or unknown.
  std::function<std::optional<std::string>(std::string_view name)> flag;
  // False when --runtime-config switched it off.
  std::function<bool(const GroupVersionResource& resource)> resource_enabled;
  // The plugin's section of the configuration as JSON.
  std::function<std::string(std::string_view plugin)> configuration;
  // Called after commit only, at any time until the server has stopped.
  std::function<Status(const std::string& delegate, GroupsChange change)> change_groups;
  std::function<std::vector<GroupVersionInfo>()> group_versions;
  std::function<void(std::function<void(const GroupVersionsChange&)> callback)> on_group_versions_changed;
  std::function<Signal&()> groups_complete;
  // The storage behind a resource's row, or null.
  std::function<std::shared_ptr<RestStorage>(const GroupVersionResource& resource)> find_storage;
  // Names the host has taken itself: "path /healthz" → "the host".  Kinds: path, poststarthook, preshutdownhook, check, signal,
  // storage, authenticator, authorizer, admission.
  std::map<std::string, std::string> taken;
  // Called after commit only: DynamicPaths of `delegate`.
  std::function<Status(const std::string& delegate, PathRoute route)> publish_path = {};
  std::function<Status(const std::string& delegate, const std::string& path)> withdraw_path = {};
  // This server from inside, for `user`, and other servers.
  std::function<std::shared_ptr<HttpClient>(std::optional<UserInfo> user)> client = {};
  std::function<Result<std::shared_ptr<HttpClient>>(ClientConfig config)> make_client = {};
  // Of caches that live; after commit only.
  std::function<std::vector<StoredObjects>()> stored_objects = {};
  // Host::set_storage_transformers of `plugin`, at its commit and later.
  std::function<Status(const std::string& plugin, std::shared_ptr<const StorageTransformers> transformers)> set_storage_transformers = {};
  // Host::convert; after commit only.
  std::function<Task<Result<Object>>(GroupVersionKind to, Object object)> convert = {};
  // What plugins ask; answered once the server has been put together.
  LateAuthorizer authorizer = {};
  LateTokenAuthenticator tokens = {};
  EquivalentResourceTable equivalents = {};
};

struct PluginReport {
  std::string name;  // the file's name when the descriptor could not be read
  std::string version;
  std::string path;
  PluginState state = PluginState::kRejected;
  std::string code;     // of the first error; empty when there is none
  std::string message;  // the first error as one line
  Findings findings;
};

class StagingHost;

// The plugins themselves, in the order in which they were started; destroyed in the reverse one.
class LoadedPlugins {
 public:
  LoadedPlugins();
  ~LoadedPlugins();
  LoadedPlugins(LoadedPlugins&&) noexcept;
  LoadedPlugins& operator=(LoadedPlugins&&) noexcept;

 private:
  friend class PluginStarter;
  struct State;
  std::unique_ptr<State> state_;
};

struct PluginSet {
  LoadedPlugins plugins;  // first: destroyed last

  std::vector<DelegationTarget> delegates;  // front to back
  std::shared_ptr<Scheme> scheme;           // of all plugins; read-only from now on
  std::map<std::string, Host::StorageBackendFactory> storage_backends;
  std::vector<std::shared_ptr<Authenticator>> authenticators;  // these three in start order
  std::vector<std::shared_ptr<Authorizer>> authorizers;
  std::vector<AdmissionRegistration> admission;
  std::vector<AuditRegistration> audit;
  std::shared_ptr<RequestGate> request_gate;  // null: nobody has one
  std::shared_ptr<PeerServers> peer_servers;  // null: nobody knows any
  std::vector<PluginReport> report;           // of every file, in the order found
  Findings general;                           // about no plugin in particular
};

// Plugins that are planned and mapped, and have been told nothing yet: what needs no server, and may be done while one is being made.
class OpenedPlugins {
 public:
  struct State;
  explicit OpenedPlugins(std::unique_ptr<State> state);
  ~OpenedPlugins();
  OpenedPlugins(OpenedPlugins&&) noexcept;
  OpenedPlugins& operator=(OpenedPlugins&&) noexcept;

 private:
  friend Result<PluginSet> load_plugins(OpenedPlugins opened, HostServices& services);
  std::unique_ptr<State> state_;
};

// Errors: the directory of the copies cannot be made.  What is wrong with plugins is told by load_plugins().
Result<OpenedPlugins> open_plugins(const PluginOptions& options);
Result<PluginSet> load_plugins(OpenedPlugins opened, HostServices& services);

// The plugins folder beside the running binary (<prefix>/lib/backplane/plugins): what --plugin-dir is when it is not given.
std::string default_plugin_directory();
// What the host provides to requirements: "host" and "sdk" in the SDK's version.
std::vector<Capability> host_capabilities();
// One report per file of a plan.
std::vector<PluginReport> make_report(const Plan& plan);

}  // namespace backplane
