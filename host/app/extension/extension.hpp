// The part of a server that `backplane-runner` adds: the connection to the outer server, the outer server's resources for plugins, and the
// registration in the outer server.
//
//   constructed ─► plugins are loaded ─► use_tables() ─► routes() ─► post-start: start() ─► pre-shutdown: stop()
//
// Thread-safety: construction, use_tables() and routes() by the main thread; everything else from any executor.
// Lifetime:      outlives the plugins; loops and task groups outlive it.
// Errors:        those of the outer server; registration is repeated until it succeeds.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "admission/admission_chain.hpp"
#include "app/extension/extension_settings.hpp"
#include "app/extension/registrar.hpp"
#include "app/extension/rule_webhooks.hpp"
#include "backplane/core/logger.hpp"
#include "backplane/core/task_group.hpp"
#include "backplane/net/client.hpp"
#include "backplane/net/informer.hpp"
#include "backplane/points/authorization.hpp"
#include "backplane/points/paths.hpp"
#include "backplane/rest/api_group.hpp"
#include "plugin/plugin_registry.hpp"

namespace backplane {

class Extension {
 public:
  using Versions = std::function<std::vector<GroupVersionInfo>()>;
  // `outer`: a client of settings.outer. `versions` returns the group versions that this server serves.
  Extension(const ExtensionSettings& settings, std::shared_ptr<HttpClient> outer, Versions versions);
  ~Extension();

  // Capabilities that plugins may require: one for each API group of the outer server ("group:apps").
  static std::vector<Capability> capabilities(const ExtensionSettings& settings);

  // authorizer() precedes the server's authorizers, and namespace_check() precedes its admission plugins.
  AuthorizerPlace authorizer() const;
  std::shared_ptr<const AdmissionPlugin> namespace_check() const { return namespace_check_; }

  // ---- clients and storages that plugins use
  std::shared_ptr<HttpClient> client(std::shared_ptr<HttpClient> local, std::optional<UserInfo> user) const;
  // The storage of a resource of the outer server; null if this server serves the group.
  std::shared_ptr<RestStorage> find_storage(const GroupVersionResource& resource) const;
  bool is_local(std::string_view group) const;

  // Called once, at startup. Errors: those of RuleWebhooks::make().
  Status use_tables(const PluginRows& rows, const AdmissionChain::Plugins& admission);
  // Called at startup and after each change of a plugin. Replaces the admission plugins of the webhooks, and applies the objects again.
  void publish(const AdmissionChain::Plugins& admission);
  std::vector<PathRoute> routes() const;
  std::shared_ptr<HealthCheck> health_check() const;

  // `address`: where the outer server reaches this server.
  Status start(TaskGroup& tasks, Executor& executor, Signal& stop, RunnerAddress address);
  Task<Status> stop();

 private:
  std::vector<GroupVersionInfo> served_versions() const;
  std::vector<RegisteredObject> objects(const RunnerAddress& address) const;
  bool is_ours(std::string_view plugin) const;

  const ExtensionSettings& settings_;
  const std::shared_ptr<HttpClient> outer_;
  const std::shared_ptr<ApiClient> api_;
  const Versions versions_;
  const std::unique_ptr<Logger> logger_;
  const std::shared_ptr<SharedInformer> namespaces_;
  const std::shared_ptr<AdmissionPlugin> namespace_check_;
  std::shared_ptr<RuleWebhooks> webhooks_;  // null: --admission-webhooks is not set
  // Null before start(). Requests are already served while start() runs.
  std::atomic<std::shared_ptr<Registrar>> registrar_;
};

}  // namespace backplane
