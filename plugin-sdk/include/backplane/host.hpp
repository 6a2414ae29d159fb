// The host as a plugin sees it. What a plugin registers in provision() is staged; it takes effect when all plugins have provisioned and
// validated, and is discarded if this plugin fails.
//
// Thread-safety: until all plugins are committed, every method only on the thread of Plugin::provision. Afterwards, on any thread, every
//                method except scheme(), dynamic_groups(), dynamic_paths() and registrations. A plugin that has called
//                set_authorizer_order or set_storage_transformers in provision() may call it again, one call at a time.
// Lifetime:      the Host outlives the plugin. Objects and functions that the plugin has registered exist until its tasks (spawn) end.
// Errors:        registrations: kAlreadyExists for a name that is taken; the message names the plugin that registered it first.
//                kServiceUnavailable after the commit.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/json_fwd.hpp"
#include "backplane/core/logger.hpp"
#include "backplane/core/status.hpp"
#include "backplane/core/task.hpp"
#include "backplane/core/visibility.hpp"
#include "backplane/points/hooks.hpp"

namespace backplane BACKPLANE_API {

class AdmissionPlugin;
class Authenticator;
class Authorizer;
class DynamicGroups;
class DynamicPaths;
class EquivalentResources;
class HttpClient;
class PeerServers;
class RequestGate;
class RestStorage;
class RuleResolver;
class Scheme;
class StandardStorage;
class StorageBackend;
class StorageTransformers;
class Strategy;
class SubresourceStorage;
class TokenAuthenticator;
struct APIGroupInfo;
struct AdmissionRegistration;
struct AuditRegistration;
struct AuthorizerPlace;
struct ClientConfig;
struct GroupVersionInfo;
struct GroupVersionKind;
struct GroupVersionResource;
struct GroupVersionsChange;
struct PathRoute;
struct ResourceConfig;
struct StorageBackendConfig;
struct StoredObjects;
struct UserInfo;

// Passed to Plugin::provision.
class Host {
 public:
  virtual ~Host();

  // The log of this plugin.
  virtual Logger& logger() = 0;
  // The Scheme to which the plugin adds its kinds, field labels and conversions.
  virtual Scheme& scheme() = 0;

  // ---- storages
  // Makes the generic store of a kind: all verbs of the resource, from a schema and a Strategy. The plugin then installs it in an
  // APIGroupInfo.
  // Errors: kInternalError for a config that cannot be served, and for a view (ResourceConfig) if no earlier call has made the storage of
  //         its `stored_kind` with the same storage_prefix; kBadRequest if the Scheme does not convert between `kind` and `stored_kind`;
  //         kAlreadyExists, in provision(), for a second stored kind with the same storage_prefix.
  //
  //   ResourceConfig config;
  //   config.kind = {"demo.example.com", "v1", "Greeting"};
  //   config.resource = "greetings";
  //   config.schemas = schemas;
  //   config.schema = schemas->find(config.kind);
  //   config.strategy = std::make_shared<Strategy>();
  //   auto storage = host.make_storage(config);
  virtual Result<std::shared_ptr<StandardStorage>> make_storage(ResourceConfig config) = 0;
  // Makes the storage of a subresource (status, ephemeralcontainers, finalize, approval …) that reads and updates the objects of `parent`.
  // `strategy` gets objects in the stored version and decides which fields such an update may change. `view_strategy` is only used if
  // `parent` is a view (ResourceConfig): it adds rules for objects in the version of the view; null: none.
  // Errors: kInternalError if make_storage did not make `parent`, or if `strategy` is null.
  virtual Result<std::shared_ptr<SubresourceStorage>> make_subresource(std::shared_ptr<StandardStorage> parent,
                                                                       std::shared_ptr<const Strategy> strategy,
                                                                       std::shared_ptr<const Strategy> view_strategy = nullptr) = 0;
  // make_scale() makes the Scale subresource (autoscaling/v1) of `parent`. ScalePaths names the fields of the parent's objects that Scale
  // shows, as dotted paths. The field of `selector` may be a LabelSelector, a map of labels or a string.
  struct ScalePaths {
    std::string spec_replicas = "spec.replicas";
    std::string status_replicas = "status.replicas";
    std::string selector = "spec.selector";
  };
  virtual Result<std::shared_ptr<SubresourceStorage>> make_scale(std::shared_ptr<StandardStorage> parent, ScalePaths paths) = 0;

  // ---- API groups
  // Installs a group. Errors: kBadRequest for storages that cannot be served: no Scoper, a subresource without its resource, upper-case
  // names.
  virtual Status install_api_group(APIGroupInfo info) = 0;
  // Installs and removes API groups of this plugin at run time. The plugin must call DynamicGroups::change() in a post-start hook or soon
  // afterwards, with an empty change if it has no group: groups_complete() fires only after this call.
  virtual std::shared_ptr<DynamicGroups> dynamic_groups() = 0;
  // The group versions of all plugins, static and dynamic, in discovery order.
  virtual std::vector<GroupVersionInfo> group_versions() const = 0;
  // Calls `callback` for each change of group_versions(), in order and one at a time. It runs on the thread that makes the change or, if
  // another thread is delivering an earlier change at that time, on that thread.
  virtual void on_group_versions_changed(std::function<void(const GroupVersionsChange&)> callback) = 0;
  // Fires when every plugin that has called dynamic_groups() has made its first change. Until then, group_versions() may lack a
  // group version that startup has yet to install.
  virtual Signal& groups_complete() = 0;
  // The storage of a served resource of any plugin; null if no plugin serves it, and before the commit. Calls on it bypass authorization
  // and admission; informers read through it (net/informer.hpp). Call find_storage() again for each use, because the storage of a custom
  // resource may be replaced.
  virtual std::shared_ptr<RestStorage> find_storage(const GroupVersionResource& resource) const = 0;

  // ---- clients (backplane/net/client.hpp); ApiClient gives them Kubernetes' verbs
  // A client of this server that calls the handler chain in process: as system:apiserver, or as `user` with that user's rights and
  // limits. Use it in post-start hooks and later: a call before startup has built the handler chain gets 503.
  virtual std::shared_ptr<HttpClient> client() = 0;
  virtual std::shared_ptr<HttpClient> client_as(UserInfo user) = 0;
  // A client of another API server over TLS. Errors: kBadRequest for an unusable configuration.
  virtual Result<std::shared_ptr<HttpClient>> make_client(ClientConfig config) = 0;

  // Number and size of the objects in the loaded watch caches, by resource.
  virtual std::vector<StoredObjects> stored_objects() const = 0;

  // False if --runtime-config disables the version or the resource.
  virtual bool resource_enabled(const GroupVersionResource& resource) const = 0;

  // ---- HTTP
  // Adds a path outside the resource tree.
  virtual Status handle(PathRoute route) = 0;
  // Adds and removes paths of this plugin at run time. Each call returns an object for the same paths.
  virtual std::shared_ptr<DynamicPaths> dynamic_paths() = 0;

  // ---- lifecycle
  // Runs `hook` after the server listens (points/hooks.hpp). The health check poststarthook/<name> reports its result.
  virtual Status add_post_start_hook(std::string name, PostStartHook hook) = 0;
  // Runs `hook` when the server shuts down.
  virtual Status add_pre_shutdown_hook(std::string name, PreShutdownHook hook) = 0;
  // Adds a check to the given endpoints.
  virtual Status add_health_check(std::shared_ptr<HealthCheck> check, HealthEndpoints where) = 0;
  // Returns a signal that the plugin must fire. Unknown paths get 503 instead of 404 until all signals of this function have fired.
  virtual Result<std::shared_ptr<Signal>> register_mux_and_discovery_complete_signal(std::string name) = 0;

  // ---- other extension points
  // Registers a factory of storage backends. The host calls it to open the store of --storage-backend=NAME, at startup and in commands
  // (`backplane store`).
  using StorageBackendFactory = std::function<Result<std::unique_ptr<StorageBackend>>(const StorageBackendConfig&)>;
  virtual Status register_storage_backend(std::string name, StorageBackendFactory factory) = 0;
  // The host calls authenticators in the start order of the plugins (points/authentication.hpp). Authorizers
  // (points/authorization.hpp) whose name is not a mode of kube-apiserver are called first, in the same order; then those with the name of
  // a mode ("Node", "RBAC" …), in the order of --authorization-mode.
  virtual Status register_authenticator(std::shared_ptr<Authenticator> authenticator) = 0;
  virtual Status register_authorizer(std::shared_ptr<Authorizer> authorizer) = 0;
  // Replaces the order of --authorization-mode. A plugin that has called it in provision() may call it again at any time: requests that
  // begin afterwards use the new order. The rule for system:masters, and authorizers whose name is not a mode, are still called first.
  // Errors: kAlreadyExists if another plugin has set an order; kBadRequest, after the commit, if a place has no `authorizer` and its `type`
  //         names none: the former order stays in use. In provision(), the call with such a place succeeds, and startup fails.
  virtual Status set_authorizer_order(std::vector<AuthorizerPlace> places) = 0;
  virtual Status register_admission(AdmissionRegistration registration) = 0;
  // Registers a plugin without configuration, at the default place in the order.
  Status register_admission(std::shared_ptr<AdmissionPlugin> plugin);
  // Adds a sink of audit events (points/audit.hpp).
  virtual Status register_audit(AuditRegistration registration) = 0;
  // Sets the encryption of stored objects. May be called again at any time: reads and writes that begin afterwards use the new
  // transformers.
  // Errors: kAlreadyExists if another plugin has set transformers.
  virtual Status set_storage_transformers(std::shared_ptr<const StorageTransformers> transformers) = 0;
  // Replaces the host's limits of concurrent requests (points/request_gate.hpp). Errors: kAlreadyExists if another plugin has registered
  // a gate.
  virtual Status register_request_gate(std::shared_ptr<RequestGate> gate) = 0;
  // Registers the proxy to other API servers on the same store, for resources that this server does not serve (points/peers.hpp).
  // Errors: kAlreadyExists if another plugin has registered a PeerServers.
  virtual Status register_peer_servers(std::shared_ptr<PeerServers> peers) = 0;

  // ---- queries; from any executor, after startup. Before, authorizer(), rule_resolver() and token_authenticator() return
  // kServiceUnavailable, equivalent_resources() has no entries, and convert() returns kNotFound.
  //
  // Decides as for a request: first the rule for system:masters, then all authorizers in their order.
  virtual Authorizer& authorizer() = 0;
  // The union of the rules that all authorizers report for a user.
  virtual RuleResolver& rule_resolver() = 0;
  // All authenticators of bearer tokens.
  virtual TokenAuthenticator& token_authenticator() = 0;
  // The resources that serve the same objects under several group versions.
  virtual const EquivalentResources& equivalent_resources() const = 0;
  // Converts an object of any served kind, built-in or custom, to another version. From any executor.
  // Errors: kNotFound if the kind or the version is not served; those of the conversion.
  virtual Task<Result<Object>> convert(GroupVersionKind to, Object object) = 0;

  // ---- running things
  // The executor of this plugin: one thread, which runs only its hooks, timers and spawned tasks. It changes from one task to another only
  // at a co_await, so these tasks need no locks for data that they use between two co_await. A call that blocks (file, lock, long
  // computation) delays the plugin's other tasks, but no other plugin. Use run_blocking() or a named executor for such calls.
  virtual Executor& executor() = 0;
  // Another thread of the plugin, created by the first call with that `name`. A task switches to it with co_await resume_on(…).
  virtual Executor& executor(std::string_view name) = 0;
  // Runs `task` on executor(). The host awaits it at shutdown, so it must end when stop_signal() fires. `name` appears in log lines.
  virtual void spawn(std::string name, Task<void> task) = 0;
  virtual Signal& stop_signal() = 0;
  // The value of a host flag ("service-cluster-ip-range") as text, its default if the flag is not set; nullopt for an unknown flag.
  // "secure-port" is the port that was bound. These names have the value "true" or "false":
  //   "feature-gates.NAME"    is the gate NAME enabled?
  //   "changed.NAME"          does the command line set the flag NAME?
  //   "changed."              does the command line set any flag?
  virtual std::optional<std::string> flag(std::string_view name) const = 0;
};

}  // namespace BACKPLANE_API
