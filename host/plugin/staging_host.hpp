// The SDK's Host for one generation of a plugin. It keeps everything that the plugin registers, tied to the generation, until commit()
// returns it. If a StagingHost is destroyed without commit(), its registrations are dropped (rollback).
//
// Thread-safety: registration on one thread, before commit; make_storage, executor, spawn, flag and dynamic groups from any thread after.
// Lifetime:      outlives the plugin; HostServices, the executors, tasks and the stop signal outlive it.
// Errors:        kAlreadyExists naming the first registrant; kServiceUnavailable for registrations after commit and for publishing before
//                it; kBadRequest for registrations that cannot be served: null objects, paths that do not fit their versions.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "backplane/kit/published.hpp"
#include "backplane/points/audit.hpp"
#include "backplane/points/peers.hpp"
#include "backplane/points/request_gate.hpp"
#include "base/loop_set.hpp"
#include "endpoints/open_watches.hpp"
#include "plugin/fenced_signal.hpp"
#include "plugin/group_snapshot.hpp"
#include "plugin/host_services.hpp"
#include "routing/delegation.hpp"
#include "routing/persistent_map.hpp"

namespace backplane {

// The registrant of each name: "path /metrics" → "core". Each generation has a copy; copies share their entries.
class TakenNames {
 public:
  explicit TakenNames(const std::map<std::string, std::string>& taken);
  // Errors: kAlreadyExists `path /metrics is already registered by core`.
  Status take(const std::string& kind, const std::string& name, const std::string& registrant);
  // Null: the name is free.  Valid until the next change.
  const std::string* registrant(const std::string& kind, const std::string& name) const;
  void release(const std::string& registrant);
  // The names without those of `registrant`, which may register them again.
  TakenNames without(const std::string& registrant) const;

 private:
  PersistentMap<std::string> taken_;
};

// The registrations of a plugin other than its delegation target.
struct StagedRegistrations {
  DelegationTarget target;
  std::map<std::string, Host::StorageBackendFactory> storage_backends;
  std::vector<std::shared_ptr<Authenticator>> authenticators;
  std::vector<std::shared_ptr<Authorizer>> authorizers;
  std::shared_ptr<AuthorizerOrder> authorizer_order;
  std::vector<AdmissionRegistration> admission;
  std::vector<AuditRegistration> audit;
  std::shared_ptr<const StorageTransformers> storage_transformers;
  std::shared_ptr<RequestGate> request_gate;
  std::shared_ptr<PeerServers> peer_servers;
  std::vector<std::function<void(const GroupVersionsChange&)>> group_version_callbacks;
  std::vector<StoredKindFacts> stored_kinds;  // kinds whose storages the plugin has made
  struct StagedTask {
    std::string name;
    Task<void> task;
  };
  std::vector<StagedTask> tasks;
};

// The parts of a generation that the Host of its plugin uses.
struct GenerationParts {
  LoopSet& loops;
  TaskGroup& tasks;
  Signal& stop;
  Hold hold;  // null: registrations are not tied to a generation
};

// The targets of the plugins of a change that is not published yet. Hooks of these plugins look up the storages of the new generations
// here.
struct UnpublishedTargets {
  std::vector<TargetRef> next, former;
  // Null: the change withdraws the resource. nullopt: none of the plugins has or had the resource.
  std::optional<std::shared_ptr<RestStorage>> find(const GroupVersionResource& resource) const;
};

class StagingHost final : public Host {
 public:
  StagingHost(std::string plugin, HostServices& services, TakenNames& names, GenerationParts parts);
  ~StagingHost() override;

  // Returns everything that was registered so far. Starts the staged tasks; later callbacks and tasks are forwarded at once.
  StagedRegistrations commit();
  // Drops registrations that have not been committed.
  void discard() { staged_ = {}; }
  // Releases what the plugin has registered. Call it when its tasks have ended: a task may use an object that only a hook or a handler
  // owns.
  void release_registered() { registered_.clear(); }
  // find_storage() searches `targets` first. Null: it searches only the tables of the server.
  void set_unpublished_targets(std::shared_ptr<const UnpublishedTargets> targets) { unpublished_.set(std::move(targets)); }
  // The hold for registrations. This object has only a weak reference to its generation; null once the generation has been destroyed.
  Hold hold() const { return hold_.lock(); }

  Logger& logger() override;
  // The Scheme of this plugin alone.
  Scheme& scheme() override { return scheme_; }
  Result<std::shared_ptr<StandardStorage>> make_storage(ResourceConfig config) override;
  Result<std::shared_ptr<SubresourceStorage>> make_subresource(std::shared_ptr<StandardStorage> parent,
                                                               std::shared_ptr<const Strategy> strategy,
                                                               std::shared_ptr<const Strategy> own) override;
  Result<std::shared_ptr<SubresourceStorage>> make_scale(std::shared_ptr<StandardStorage> parent, ScalePaths paths) override;
  Status install_api_group(APIGroupInfo info) override;
  std::shared_ptr<DynamicGroups> dynamic_groups() override;
  std::vector<GroupVersionInfo> group_versions() const override;
  void on_group_versions_changed(std::function<void(const GroupVersionsChange&)> callback) override;
  Signal& groups_complete() override;
  std::shared_ptr<HttpClient> client() override;
  std::shared_ptr<HttpClient> client_as(UserInfo user) override;
  Result<std::shared_ptr<HttpClient>> make_client(ClientConfig config) override;
  std::shared_ptr<RestStorage> find_storage(const GroupVersionResource& resource) const override;
  bool resource_enabled(const GroupVersionResource& resource) const override;
  Status handle(PathRoute route) override;
  std::shared_ptr<DynamicPaths> dynamic_paths() override;
  Status add_post_start_hook(std::string name, PostStartHook hook) override;
  Status add_pre_shutdown_hook(std::string name, PreShutdownHook hook) override;
  Status add_health_check(std::shared_ptr<HealthCheck> check, HealthEndpoints where) override;
  Result<std::shared_ptr<Signal>> register_mux_and_discovery_complete_signal(std::string name) override;
  Status register_storage_backend(std::string name, StorageBackendFactory factory) override;
  Status register_authenticator(std::shared_ptr<Authenticator> authenticator) override;
  Status register_authorizer(std::shared_ptr<Authorizer> authorizer) override;
  Status set_authorizer_order(std::vector<AuthorizerPlace> places) override;
  using Host::register_admission;
  Status register_admission(AdmissionRegistration registration) override;
  Status register_audit(AuditRegistration registration) override;
  Status set_storage_transformers(std::shared_ptr<const StorageTransformers> transformers) override;
  Status register_request_gate(std::shared_ptr<RequestGate> gate) override;
  std::vector<StoredObjects> stored_objects() const override;
  Status register_peer_servers(std::shared_ptr<PeerServers> peers) override;
  Authorizer& authorizer() override { return services_.authorizer; }
  RuleResolver& rule_resolver() override { return services_.authorizer; }
  TokenAuthenticator& token_authenticator() override { return services_.tokens; }
  const EquivalentResources& equivalent_resources() const override { return services_.equivalents; }
  Task<Result<Object>> convert(GroupVersionKind to, Object object) override;
  Executor& executor() override { return parts_.loops.of(plugin_); }
  Executor& executor(std::string_view name) override { return parts_.loops.of(plugin_ + "/" + std::string(name)); }
  void spawn(std::string name, Task<void> task) override;
  Signal& stop_signal() override { return stop_; }
  std::optional<std::string> flag(std::string_view name) const override;

 private:
  class PluginLogger;
  class PublishedGroups;
  class PublishedPaths;
  // Refuses a version that the Scheme cannot convert to the stored one and back, naming both.
  Status check_conversions(const ResourceConfig& config);
  // Ties a registered object to the generation, and retains it until release_registered().
  template <class T>
  std::shared_ptr<T> registered(std::shared_ptr<T> object) {
    if (object) registered_.push_back(object);
    return tied(hold(), std::move(object));
  }
  // Refuses a registration that comes too late, has no name, or has a name that is taken.
  Status admit(const std::string& kind, const std::string& name);

  std::string plugin_;
  HostServices& services_;
  TakenNames& names_;
  GenerationParts parts_;  // without the hold
  const std::weak_ptr<const void> hold_;
  std::unique_ptr<PluginLogger> logger_;
  std::shared_ptr<AuthorizerOrder> authorizer_order_;  // null: the plugin has set none
  StagedRegistrations staged_;
  // The objects that the plugin has registered, without the hold. The plugin's tasks may refer to them.
  std::vector<std::shared_ptr<const void>> registered_;
  FencedSignal stop_;
  std::once_flag groups_complete_made_;
  std::optional<FencedSignal> groups_complete_;
  Scheme scheme_;  // the plugin's own kinds
  kit::Published<UnpublishedTargets> unpublished_;
  std::shared_ptr<std::atomic<bool>> committed_ = std::make_shared<std::atomic<bool>>(false);
};

}  // namespace backplane
