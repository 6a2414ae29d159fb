// What the host offers a plugin.  Everything a plugin registers goes into a staging registry of its own and becomes visible only when
// every plugin has provisioned and validated; a failure rolls it back.
//
// Thread-safety: registration calls are made inside Plugin::provision, on one thread; make_storage, executor and spawn at any time.
// Lifetime:      the Host outlives the plugin.
// Errors:        a duplicate name is kAlreadyExists and names the first registrant.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/logger.hpp"
#include "backplane/core/visibility.hpp"
#include "backplane/points/admission.hpp"
#include "backplane/points/audit.hpp"
#include "backplane/points/authentication.hpp"
#include "backplane/points/authorization.hpp"
#include "backplane/points/hooks.hpp"
#include "backplane/points/peers.hpp"
#include "backplane/points/request_gate.hpp"
#include "backplane/points/storage.hpp"
#include "backplane/points/storage_transformer.hpp"
#include "backplane/rest/roles.hpp"
#include "backplane/rest/scheme.hpp"

namespace backplane BACKPLANE_API {

// A group with its versions and their storages, as upstream's APIGroupInfo.
struct APIGroupInfo {
  std::string group;  // empty: the legacy core group under /api
  // In order of preference; empty: as Scheme::set_version_priority has it.
  std::vector<std::string> prioritized_versions;
  // version → path ("deployments", "deployments/status") → storage.
  std::map<std::string, std::map<std::string, std::shared_ptr<RestStorage>>> storages;
  // Types by version, for OpenAPI and explain.
  std::map<std::string, std::shared_ptr<const SchemaSet>> schemas;
  // APIService priorities: groups are listed by falling group priority, then by name.
  int group_priority_minimum = 1000;
  int version_priority = 15;
  std::map<std::string, int> version_priorities = {};  // of the versions that say their own
};

struct GroupVersionInfo {
  GroupVersion group_version;
  int group_priority_minimum = 0;
  int version_priority = 0;
  std::string delegate;    // the plugin that serves it
  bool published = false;  // at run time
  bool forwarded = false;  // not served from here
};

// Which group versions have come, or changed who serves them, and which have gone.
struct GroupVersionsChange {
  std::vector<GroupVersionInfo> served;
  std::vector<GroupVersion> gone;
};

// A resource that is served at run time: its storages in each version that has it.  Versions of a group are listed in Kubernetes' order.
struct PublishedResource {
  struct Version {
    std::string version;
    std::map<std::string, std::shared_ptr<RestStorage>> storages;  // path ("widgets", "widgets/status") → storage
    std::shared_ptr<const SchemaSet> schemas;                      // types of this resource alone, for OpenAPI and explain
  };
  std::string group;
  std::string resource;  // plural: "widgets"
  std::vector<Version> versions;
  // Stands for everything that documents show of the resource: as long as it stays, over a restart too, they need not be made to know
  // that they have not changed.  Empty: they are compared by their bytes.
  std::string identity;
  int group_priority_minimum = 1000;
  int version_priority = 100;
};

// A group version that is known and not served from here: `handler` answers its path and everything below.  It stands before a group
// version of this server.  Discovery lists it as stale, without resources.
struct ForwardedVersion {
  GroupVersion group_version;
  int group_priority_minimum = 1000;
  int version_priority = 15;
  std::shared_ptr<HttpHandler> handler;
};

struct GroupsChange {
  std::vector<PublishedResource> put;  // added, or in the place of the one of that group and name
  std::vector<GroupResource> removed;  // what is not there is no error
  std::vector<ForwardedVersion> forwarded;
  std::vector<GroupVersion> withdrawn;  // of the forwarded ones
};

// Groups that come and go while the server runs (custom resources).  A change costs what it changes, not what is there; readers never lock,
// and a request that has begun ends with the storages it began with.
class DynamicGroups {
 public:
  virtual ~DynamicGroups();
  // All of it at once, or nothing.  The first change says what there is from before the start, and may be empty.
  // Errors: kAlreadyExists when another plugin serves the group version; kBadRequest for what could not be served.
  virtual Status change(GroupsChange change) = 0;
};

// Paths outside the resource tree: prefix → handler.
struct PathRoute {
  std::string path;
  bool prefix = false;  // true: this path and everything below it
  bool listed = true;   // shown by GET /
  std::shared_ptr<HttpHandler> handler;
};

// Paths that come and go while the server runs (a proxied group).  Each call swaps the route table; readers never lock, and a request that
// has begun ends with the handler it began with.
//
// Thread-safety: any thread.
// Errors:        kServiceUnavailable before the server starts; kAlreadyExists for a path that somebody else answers.
class DynamicPaths {
 public:
  virtual ~DynamicPaths();
  // Answers `route.path` from now on; a route of this plugin on the same path is replaced.
  virtual Status publish(PathRoute route) = 0;
  // Errors: kNotFound when this plugin has not published it.
  virtual Status withdraw(std::string path) = 0;
};

class HttpClient;
struct ClientConfig;

class Host {
 public:
  virtual ~Host();

  virtual Logger& logger() = 0;
  virtual Scheme& scheme() = 0;

  // ---- storages
  // The generic store for a kind: a Strategy goes in, all verbs come out.
  virtual Result<std::shared_ptr<StandardStorage>> make_storage(ResourceConfig config) = 0;
  // Getter + Updater of the same objects under another strategy (status, ephemeralcontainers, finalize, approval …): `strategy` decides
  // what an update through this subresource may change.  It speaks of the stored form; of a version that is not stored, `own` may speak of
  // its own form before.
  virtual Result<std::shared_ptr<SubresourceStorage>> make_subresource(std::shared_ptr<StandardStorage> parent,
                                                                       std::shared_ptr<const Strategy> strategy,
                                                                       std::shared_ptr<const Strategy> own = nullptr) = 0;
  // autoscaling/v1 Scale over three dotted paths of the parent; `selector_path` may name a LabelSelector object or a text.
  struct ScalePaths {
    std::string spec_replicas = "spec.replicas";
    std::string status_replicas = "status.replicas";
    std::string selector = "spec.selector";
  };
  virtual Result<std::shared_ptr<SubresourceStorage>> make_scale(std::shared_ptr<StandardStorage> parent, ScalePaths paths) = 0;

  // ---- API groups
  virtual Status install_api_group(APIGroupInfo info) = 0;
  virtual std::shared_ptr<DynamicGroups> dynamic_groups() = 0;
  // Group versions served by everybody, static and dynamic, in order; and a call with each change of them, on the thread that makes it.
  virtual std::vector<GroupVersionInfo> group_versions() const = 0;
  virtual void on_group_versions_changed(std::function<void(const GroupVersionsChange&)> callback) = 0;
  // Fires when every plugin that took dynamic_groups() has made its first change: what is not served then has gone.
  virtual Signal& groups_complete() = 0;
  // What serves a resource now, of whichever plugin; null when nobody does.  Calls on it pass no authorization and no admission: for the
  // reads of informers (backplane/net/informer.hpp).  After commit; keep it no longer than needed, a custom resource may change.
  virtual std::shared_ptr<RestStorage> find_storage(const GroupVersionResource& resource) const = 0;

  // ---- clients (backplane/net/client.hpp); ApiClient gives them Kubernetes' verbs
  // This server from inside, through the whole handler chain and without a socket: as system:apiserver, or on behalf of `user`, whose
  // rights and limits apply.  Calls before the post-start hooks are answered 503.
  virtual std::shared_ptr<HttpClient> client() = 0;
  virtual std::shared_ptr<HttpClient> client_as(UserInfo user) = 0;
  // Another API server, over TLS.  Errors: kBadRequest for a configuration that cannot be used.
  virtual Result<std::shared_ptr<HttpClient>> make_client(ClientConfig config) = 0;

  // What the caches that are loaded hold, by resource.
  virtual std::vector<StoredObjects> stored_objects() const = 0;

  // False when --runtime-config switched the version or the resource off.
  virtual bool resource_enabled(const GroupVersionResource& resource) const = 0;

  // ---- HTTP
  virtual Status handle(PathRoute route) = 0;
  // All holders in one plugin publish into the same set.
  virtual std::shared_ptr<DynamicPaths> dynamic_paths() = 0;

  // ---- lifecycle
  virtual Status add_post_start_hook(std::string name, PostStartHook hook) = 0;
  virtual Status add_pre_shutdown_hook(std::string name, PreShutdownHook hook) = 0;
  virtual Status add_health_check(std::shared_ptr<HealthCheck> check, HealthEndpoints where) = 0;
  // Unknown paths are answered 503 until every such signal has fired.
  virtual Result<std::shared_ptr<Signal>> register_mux_and_discovery_complete_signal(std::string name) = 0;

  // ---- other extension points
  using StorageBackendFactory = std::function<Result<std::unique_ptr<StorageBackend>>(const StorageBackendConfig&)>;
  virtual Status register_storage_backend(std::string name, StorageBackendFactory factory) = 0;
  virtual Status register_authenticator(std::shared_ptr<Authenticator> authenticator) = 0;
  virtual Status register_authorizer(std::shared_ptr<Authorizer> authorizer) = 0;
  virtual Status register_admission(AdmissionRegistration registration) = 0;
  // One that takes no configuration and has no place of its own in the order.
  Status register_admission(std::shared_ptr<AdmissionPlugin> plugin);
  virtual Status register_audit(AuditRegistration registration) = 0;
  // The transformers of stored objects.  May be called again at any time: reads and writes that begin afterwards use the new ones.
  // Errors: kAlreadyExists when another plugin has registered some.
  virtual Status set_storage_transformers(std::shared_ptr<const StorageTransformers> transformers) = 0;
  // Replaces the host's two limits of concurrent requests.  Errors: kAlreadyExists when another plugin has registered one.
  virtual Status register_request_gate(std::shared_ptr<RequestGate> gate) = 0;
  // Errors: kAlreadyExists when another plugin has registered some.
  virtual Status register_peer_servers(std::shared_ptr<PeerServers> peers) = 0;

  // ---- asking what a request would be told; from any executor, once the server starts (kServiceUnavailable before)
  // All authorizers as requests meet them, the superuser's rule in front.
  virtual Authorizer& authorizer() = 0;
  // The union of what they say of somebody's rules.
  virtual RuleResolver& rule_resolver() = 0;
  // All authenticators that know tokens.
  virtual TokenAuthenticator& token_authenticator() = 0;
  // Which resources are the same objects.
  virtual const EquivalentResources& equivalent_resources() const = 0;
  // The object in another version of its kind, of any kind that is served, built in or custom.  From any executor.
  // Errors: kNotFound for a kind without such a version; those of the conversion.
  virtual Task<Result<Object>> convert(GroupVersionKind to, Object object) = 0;

  // ---- running things
  // The plugin's own: one thread, on which its hooks and spawned tasks run and nothing else, one at a time: they need no locks among
  // themselves.  One that blocks (a file, a lock, a long computation) stalls the plugin's other tasks, hooks and timers until it is done,
  // but nobody else's.  What may take long goes to run_blocking(), or to an executor of its own:
  virtual Executor& executor() = 0;
  // A further thread of the plugin, made at the first ask for `name`.  A task goes there with co_await resume_on(…).
  virtual Executor& executor(std::string_view name) = 0;
  // Runs `task` on executor() until it ends; the host waits for it at shutdown, so it must watch the stop signal.
  virtual void spawn(std::string name, Task<void> task) = 0;
  virtual Signal& stop_signal() = 0;
  // The value of a host flag by its name ("service-cluster-ip-range"), as text; nothing when unset or unknown.  "secure-port" is the
  // port that was bound.
  virtual std::optional<std::string> flag(std::string_view name) const = 0;
};

}  // namespace BACKPLANE_API
