// The parts of the server that plugins use through the SDK's Host, except those that belong to a PluginGeneration.
//
// Thread-safety: every method from any thread.
// Lifetime:      outlives the PluginRegistry.
// Errors:        the default implementations are for a host without a server: they return kServiceUnavailable, or nothing.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "admission/equivalents.hpp"
#include "backplane/host.hpp"
#include "backplane/net/client.hpp"
#include "backplane/points/paths.hpp"
#include "backplane/points/request_gate.hpp"
#include "backplane/points/storage_transformer.hpp"
#include "backplane/rest/api_group.hpp"
#include "backplane/rest/roles.hpp"
#include "base/signal.hpp"
#include "base/task_group.hpp"
#include "registry/store.hpp"
#include "security/published_security.hpp"

namespace backplane {

// The values of flags, and the configurations of plugins.
class PluginSettings {
 public:
  virtual ~PluginSettings() = default;
  // Implements Host::flag().
  virtual std::optional<std::string> flag(std::string_view name) const;
  // False when --runtime-config switched it off.
  virtual bool resource_enabled(const GroupVersionResource& resource) const;
  // The plugin's section of the configuration as JSON.
  virtual std::string configuration(std::string_view plugin) const;
};

// The route table. The methods are called only after the registrations of the plugin have been committed.
class ServedApi {
 public:
  virtual ~ServedApi() = default;
  virtual Status change(const std::string& delegate, GroupsChange change);
  virtual std::vector<GroupVersionInfo> group_versions() const;
  // The callback is called until drop_callbacks(owner).
  virtual void on_group_versions_changed(std::function<void(const GroupVersionsChange&)> callback, const void* owner);
  virtual void drop_callbacks(const void* owner);
  virtual Signal& groups_complete();
  // The storage of a resource in the route table, or null.
  virtual std::shared_ptr<RestStorage> find_storage(const GroupVersionResource& resource) const;
  // These implement the DynamicPaths of the plugin `delegate`.
  virtual Status publish_path(const std::string& delegate, PathRoute route);
  virtual Status withdraw_path(const std::string& delegate, const std::string& path);

 private:
  NamedSignal never_{"groups-complete"};
};

// Calls of this server from inside the process, clients for other servers, and the objects of the stores.
class ServerAccess {
 public:
  virtual ~ServerAccess() = default;
  // `tasks`: the task group of the caller, which outlives the client's calls.
  virtual std::shared_ptr<HttpClient> client(TaskGroup& tasks, std::optional<UserInfo> user);
  virtual Result<std::shared_ptr<HttpClient>> make_client(TaskGroup& tasks, ClientConfig config);
  // The objects of all caches that exist now.
  virtual std::vector<StoredObjects> stored_objects() const;
  // Called when the AuthorizerOrder of a committed plugin has changed.
  virtual Status authorizer_order_changed();
  // Implements Host::set_storage_transformers() of `plugin` after commit.
  virtual Status set_storage_transformers(const std::string& plugin, std::shared_ptr<const StorageTransformers> transformers);
  // Implements Host::convert() after commit.
  virtual Task<Result<Object>> convert(GroupVersionKind to, Object object);
};

struct HostServices {
  StoreEnvironment& stores;
  PluginSettings& settings;
  ServedApi& api;
  ServerAccess& access;
  // Names that the host has registered: "path /healthz" → "the host". Kinds: path, poststarthook, preshutdownhook, check, signal, storage,
  // authenticator, authorizer, admission, audit, request, peer, group version.
  std::map<std::string, std::string> taken = {};
  // What the Host of each plugin returns for these interfaces. Plugins may call them after the server has been constructed.
  PublishedAuthorizer authorizer = {};
  PublishedTokenAuthenticator tokens = {};
  EquivalentResourceTable equivalents = {};
};

}  // namespace backplane
