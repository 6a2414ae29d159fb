// The server as a plugin sees it. Plugin::provision() receives a Host and registers API groups, paths, hooks and other extensions with it.
//
// Startup:       the host calls provision() and validate() of every plugin. It then publishes the registrations of all plugins at once (the
//                commit), builds the handler chain, listens, and runs the post-start hooks. If a plugin fails before the commit, the host
//                discards the registrations of that plugin.
// Thread-safety: before the commit, call the methods only on the thread of provision(). After the commit, any thread may call them.
//                Exceptions: scheme(), dynamic_groups() and dynamic_paths() must not be called after the commit, and registrations then
//                fail. A plugin that called set_authorizer_order() or set_storage_transformers() in provision() may call the same method
//                again after the commit, one call at a time.
// Lifetime:      the Host outlives the plugin. The host keeps registered handlers, hooks, checks, authenticators, authorizers and sinks
//                until the plugin's spawned tasks have ended. It releases storages, schemas and callbacks when no request uses them.
// Errors:        of registrations (install_api_group, handle, add_…, register_…, set_…): kAlreadyExists if the name is taken, with the
//                plugin that registered it first in the message; kServiceUnavailable after the commit.
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

class Host {
 public:
  virtual ~Host();

  // The log of this plugin.
  virtual Logger& logger() = 0;
  // The Scheme to which the plugin adds its kinds, field labels and conversions.
  virtual Scheme& scheme() = 0;

  // ---- storages
  // Makes the storage of a kind, with all verbs of the resource, from a schema and a Strategy. The plugin adds the storage to an
  // APIGroupInfo. A config with a `stored_kind` makes a view, which serves the objects of that kind in another version.
  // Errors: kInternalError if the config cannot be served, or if it makes a view before the storage of its `stored_kind`;
  //         kBadRequest if the Scheme has no conversion between `kind` and `stored_kind`;
  //         kAlreadyExists if provision() makes two stored kinds with the same storage_prefix.
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
  // `strategy` receives objects in the stored version and decides which fields the subresource may change. If `parent` is a view,
  // `view_strategy` also receives them, in the version of the view; it may be null.
  // Errors: kInternalError if `parent` does not come from make_storage(), or if `strategy` is null.
  virtual Result<std::shared_ptr<SubresourceStorage>> make_subresource(std::shared_ptr<StandardStorage> parent,
                                                                       std::shared_ptr<const Strategy> strategy,
                                                                       std::shared_ptr<const Strategy> view_strategy = nullptr) = 0;
  // The fields of an object from which its Scale is made, as dotted paths. The field at `selector` is a LabelSelector, a map of labels or a
  // string.
  struct ScalePaths {
    std::string spec_replicas = "spec.replicas";
    std::string status_replicas = "status.replicas";
    std::string selector = "spec.selector";
  };
  // Makes the subresource `scale` (autoscaling/v1) of `parent`.
  virtual Result<std::shared_ptr<SubresourceStorage>> make_scale(std::shared_ptr<StandardStorage> parent, ScalePaths paths) = 0;

  // ---- API groups
  // Registers a group.
  // Errors: kBadRequest if a storage has no Scoper, a resource name has upper-case letters, or a subresource has no resource.
  virtual Status install_api_group(APIGroupInfo info) = 0;
  // The API groups that this plugin adds and removes at run time. The plugin must call DynamicGroups::change() in a post-start hook or soon
  // afterwards, even if it has no group yet, because groups_complete() waits for this first call.
  virtual std::shared_ptr<DynamicGroups> dynamic_groups() = 0;
  // The group versions of all plugins, static and dynamic, in discovery order.
  virtual std::vector<GroupVersionInfo> group_versions() const = 0;
  // Calls `callback` after each change of group_versions(), in the order of the changes and never twice at the same time. The caller is
  // the thread that makes the change, or a thread that is still reporting an earlier change.
  virtual void on_group_versions_changed(std::function<void(const GroupVersionsChange&)> callback) = 0;
  // Fires when every plugin that has called dynamic_groups() has made its first change. Before that, group_versions() can be incomplete.
  virtual Signal& groups_complete() = 0;
  // The storage of a resource that any plugin serves; null if no plugin serves the resource, and before the commit. Calls of the storage
  // bypass authorization, and run admission only with the RequestContext of a resource request. Do not keep the storage: that of a custom
  // resource is replaced when its definition changes.
  virtual std::shared_ptr<RestStorage> find_storage(const GroupVersionResource& resource) const = 0;

  // ---- HTTP clients (net/client.hpp). The class ApiClient of that header wraps one and has get(), list(), create(), update() and others.
  // A client that calls this server's handler chain in process, as the user system:apiserver. Calls return 503 until startup has built the
  // handler chain, so use the client in post-start hooks and later.
  virtual std::shared_ptr<HttpClient> client() = 0;
  // The same client, with the name, groups and permissions of `user`.
  virtual std::shared_ptr<HttpClient> client_as(UserInfo user) = 0;
  // A client of another server, such as an API server or a webhook. Errors: kBadRequest if the configuration is invalid.
  virtual Result<std::shared_ptr<HttpClient>> make_client(ClientConfig config) = 0;

  // The number and size of the objects in the watch caches, one element for each resource whose cache is loaded.
  virtual std::vector<StoredObjects> stored_objects() const = 0;

  // False if --runtime-config disables the version or the resource.
  virtual bool resource_enabled(const GroupVersionResource& resource) const = 0;

  // ---- HTTP
  // Registers a handler for a path that is not a resource, such as /metrics.
  virtual Status handle(PathRoute route) = 0;
  // Adds and removes paths of this plugin at run time. Several calls return objects that change the same set of paths.
  virtual std::shared_ptr<DynamicPaths> dynamic_paths() = 0;

  // ---- lifecycle
  // Runs `hook` once the server listens (points/hooks.hpp). The health check poststarthook/<name> reports the result.
  virtual Status add_post_start_hook(std::string name, PostStartHook hook) = 0;
  // Runs `hook` when the server shuts down.
  virtual Status add_pre_shutdown_hook(std::string name, PreShutdownHook hook) = 0;
  // Adds `check` to those of /healthz, /livez and /readyz that `where` names.
  virtual Status add_health_check(std::shared_ptr<HealthCheck> check, HealthEndpoints where) = 0;
  // Returns a signal that the plugin must fire when all its paths are served. Requests for unknown paths get 503 instead of 404 until every
  // such signal of every plugin has fired.
  virtual Result<std::shared_ptr<Signal>> register_mux_and_discovery_complete_signal(std::string name) = 0;

  // ---- other extension points
  // Registers the factory of the storage backend `name`. The host calls it at startup if --storage-backend is `name`. The commands
  // `backplane store …` use the factories of rocksdb and etcd3 only.
  using StorageBackendFactory = std::function<Result<std::unique_ptr<StorageBackend>>(const StorageBackendConfig&)>;
  virtual Status register_storage_backend(std::string name, StorageBackendFactory factory) = 0;
  // Adds an authenticator (points/authentication.hpp). Authenticators are called in the start order of their plugins.
  virtual Status register_authenticator(std::shared_ptr<Authenticator> authenticator) = 0;
  // Adds an authorizer (points/authorization.hpp). If its name is a mode of kube-apiserver ("Node", "RBAC" …), --authorization-mode decides
  // whether and in which order it is called. All other authorizers are called before these, in the start order of their plugins.
  virtual Status register_authorizer(std::shared_ptr<Authorizer> authorizer) = 0;
  // Replaces the order of --authorization-mode for requests that begin afterwards. system:masters, and authorizers whose name is not a
  // mode, still come first. An element without an `authorizer` refers to a registered authorizer by the name `type`.
  // Errors: kAlreadyExists if another plugin has set an order.
  //         If no authorizer has the name `type`: in provision(), the call succeeds and startup fails later; after the commit, the call
  //         returns kBadRequest and changes nothing.
  virtual Status set_authorizer_order(std::vector<AuthorizerPlace> places) = 0;
  // Adds an admission plugin, with its defaults, configuration and position (points/admission.hpp).
  virtual Status register_admission(AdmissionRegistration registration) = 0;
  // Adds an admission plugin that has no configuration, at the default position.
  Status register_admission(std::shared_ptr<AdmissionPlugin> plugin);
  // Adds a sink of audit events (points/audit.hpp).
  virtual Status register_audit(AuditRegistration registration) = 0;
  // Sets the encryption of stored objects for reads and writes that begin afterwards (points/storage_transformer.hpp).
  // Errors: kAlreadyExists if another plugin has set transformers.
  virtual Status set_storage_transformers(std::shared_ptr<const StorageTransformers> transformers) = 0;
  // Replaces the host's limits of concurrent requests (points/request_gate.hpp).
  // Errors: kAlreadyExists if another plugin has registered a gate.
  virtual Status register_request_gate(std::shared_ptr<RequestGate> gate) = 0;
  // Sets the proxy for resources that this server does not serve: it forwards their requests to other API servers on the same store
  // (points/peers.hpp).
  // Errors: kAlreadyExists if another plugin has registered a PeerServers.
  virtual Status register_peer_servers(std::shared_ptr<PeerServers> peers) = 0;

  // ---- queries, for post-start hooks and later
  // An authorizer that decides as for a request: it allows system:masters, then calls all authorizers in their order. Before the
  // handler chain is built, calls of this authorizer, of the rule resolver and of the token authenticator return kServiceUnavailable.
  virtual Authorizer& authorizer() = 0;
  // Returns the rules of a user, from all authorizers.
  virtual RuleResolver& rule_resolver() = 0;
  // Authenticates a bearer token with all authenticators of tokens.
  virtual TokenAuthenticator& token_authenticator() = 0;
  // The resources that serve the same objects in several group versions, such as the Events of v1 and of events.k8s.io/v1. Empty
  // before the commit.
  virtual const EquivalentResources& equivalent_resources() const = 0;
  // Converts an object of any served kind, built-in or custom, to another version.
  // Errors: kNotFound if the kind or the version is not served; the errors of the conversion.
  virtual Task<Result<Object>> convert(GroupVersionKind to, Object object) = 0;

  // ---- running things
  // The executor of this plugin: one thread that runs the plugin's hooks, timers and spawned tasks. A task runs until its next co_await, so
  // tasks need no locks for data that they use between two co_await expressions. A blocking call (file, lock, long computation) delays all
  // tasks of the plugin; make such calls with run_blocking() or on a named executor.
  virtual Executor& executor() = 0;
  // An additional thread of the plugin. The first call with a `name` creates it. A task moves to it with co_await resume_on(…).
  virtual Executor& executor(std::string_view name) = 0;
  // Runs `task` on executor(). Shutdown waits for the task, so the task must end when stop_signal() fires. `name` appears in log lines.
  virtual void spawn(std::string name, Task<void> task) = 0;
  virtual Signal& stop_signal() = 0;
  // The value of a host flag ("service-cluster-ip-range") as text: the default if the flag is not set, nullopt if there is no such flag.
  // The value of "secure-port" is the port that is bound. Further names, with the value "true" or "false":
  //   "feature-gates.NAME"    is the gate NAME enabled?
  //   "changed.NAME"          does the command line set the flag NAME?
  //   "changed."              does the command line set any flag?
  virtual std::optional<std::string> flag(std::string_view name) const = 0;
};

}  // namespace BACKPLANE_API
