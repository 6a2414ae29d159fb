// All parts of a server, in the order of construction; members are destroyed in reverse order.
//
// Thread-safety: built and taken down on the main thread.
// Lifetime:      the destructor calls take_down().
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "admission/admission_chain.hpp"
#include "admission/admission_config.hpp"
#include "app/extension/extension.hpp"
#include "app/hooks.hpp"
#include "app/lifecycle.hpp"
#include "app/lifecycle_signals.hpp"
#include "app/metric_rules.hpp"
#include "app/options.hpp"
#include "app/other_stores.hpp"
#include "app/paths.hpp"
#include "app/pki.hpp"
#include "app/plugin_actions.hpp"
#include "app/plugin_groups.hpp"
#include "app/plugin_objects.hpp"
#include "app/plugin_watch.hpp"
#include "app/profile_handlers.hpp"
#include "app/reload_signal.hpp"
#include "app/server_context.hpp"
#include "app/server_pools.hpp"
#include "app/server_tracing.hpp"
#include "app/stop_event.hpp"
#include "app/tracked_caches.hpp"
#include "app/watchdog.hpp"
#include "base/free_memory.hpp"
#include "base/io_loop.hpp"
#include "base/loop_set.hpp"
#include "base/task_group.hpp"
#include "filters/audit_registrations.hpp"
#include "filters/handler_chain.hpp"
#include "plugin/plugin_registry.hpp"
#include "registry/store.hpp"
#include "routing/health.hpp"
#include "routing/router.hpp"
#include "security/authentication.hpp"
#include "security/authorization.hpp"
#include "security/published_security.hpp"
#include "transport/secure_server.hpp"
#include "transport/unix_server.hpp"
#include "watchcache/pump_loop.hpp"

namespace backplane {

// A handler that forwards to another one, which is set later: the port must be bound before the handler chain can be built.
class LateHandler final : public HttpHandler {
 public:
  void set(HttpHandler& handler) noexcept { handler_.store(&handler); }
  Task<void> handle(RequestContext& context, Exchange& exchange) override {
    HttpHandler* handler = handler_.load();
    return handler != nullptr ? handler->handle(context, exchange) : too_early(exchange);
  }

 private:
  static Task<void> too_early(Exchange& exchange) {
    std::vector<SharedBytes> body;
    body.push_back(SharedBytes::from_static("the server is starting\n"));
    co_await exchange.respond(503, "text/plain; charset=utf-8", std::move(body));
  }
  std::atomic<HttpHandler*> handler_{nullptr};
};

// The name of the host as a registrant, in messages.
inline constexpr std::string_view kTheHost = "the host";
// The name of the storage backend that the host provides.
inline constexpr std::string_view kMemoryBackend = "memory";
// The names that the host has registered, which plugins cannot register.
std::map<std::string, std::string> host_names();
// True if a running plugin offers the admission plugin `name`.
bool offers_admission(const PluginRows& rows, std::string_view name);

struct ServerParts;

// The interfaces of the server that plugins call.
class ServerFacilities final : public PluginSettings, public ServedApi, public ServerAccess {
 public:
  explicit ServerFacilities(ServerParts& parts) : parts_(parts) {}
  // The effective value of a flag: for --secure-port=0 the bound port, for an unset key file the generated one.
  std::optional<std::string> flag(std::string_view name) const override;
  bool resource_enabled(const GroupVersionResource& resource) const override;
  Status change(const std::string& delegate, GroupsChange change) override;
  std::vector<GroupVersionInfo> group_versions() const override;
  void on_group_versions_changed(std::function<void(const GroupVersionsChange&)> callback, const void* owner) override;
  void drop_callbacks(const void* owner) override;
  // routing_began(): the router has been made. routing_ends(): the router is about to be destroyed. Plugins call drop_callbacks() when they
  // are destroyed, which is after the router.
  void routing_began() noexcept { routes_ = true; }
  void routing_ends() noexcept { routes_ = false; }
  Signal& groups_complete() override;
  std::shared_ptr<RestStorage> find_storage(const GroupVersionResource& resource) const override;
  Status publish_path(const std::string& delegate, PathRoute route) override;
  Status withdraw_path(const std::string& delegate, const std::string& path) override;
  std::shared_ptr<HttpClient> client(TaskGroup& tasks, std::optional<UserInfo> user) override;
  Result<std::shared_ptr<HttpClient>> make_client(TaskGroup& tasks, ClientConfig config) override;
  std::vector<StoredObjects> stored_objects() const override;
  Status authorizer_order_changed() override;
  Status set_storage_transformers(const std::string& plugin, std::shared_ptr<const StorageTransformers> transformers) override;
  Task<Result<Object>> convert(GroupVersionKind to, Object object) override;

 private:
  ServerParts& parts_;
  bool routes_ = false;
};

// Authentication, authorization, admission, audit and encryption, made from the plugins' registrations and the flags.
struct ServerTables {
  AdmissionChain::Plugins admission;
  AdmissionConfiguration admission_configuration;
  std::shared_ptr<const Authentication> authentication;
  std::shared_ptr<TokenAuthenticator> tokens;
  std::shared_ptr<Authorization> authorization;
  AuditRegistrations::List audit;
  std::string transforming_plugin;
  std::shared_ptr<const StorageTransformers> transformers;
};

struct ServerParts {
  // Called on a thread that has the server slot of `context_in`. The loops get the same slot.
  ServerParts(std::unique_ptr<const ServerContext> context_in, Config config_in, StopEvent& stop_in);
  ~ServerParts();

  const Options& options() const noexcept { return config.options(); }
  bool offers_cbor() const { return config.feature_gates().enabled("CBORServingAndStorage"); }

  // ---- the steps of Server::create and their parts (server_create.cpp)
  Status take_data_dir();
  Status bind_and_open();
  Status bind_port();
  void make_router();
  Status make_extension();
  Status load();
  Status open_storage();
  Result<std::unique_ptr<StorageBackend>> open_backend(const std::string& name);
  Status open_other_stores();
  // Adds a store with the layers over it and its caches.
  StoreParts& add_store(std::unique_ptr<StorageBackend> storage, std::string servers);
  StorageBackend& main_store() const { return *all_stores.front().storage; }
  StoreSettings store_settings() const;
  Status check_offers();
  void check_runtime_config(Problems& problems) const;
  std::vector<std::string> idle_plugins() const;
  void report_admission(const PluginRows& rows) const;
  Executor& executor_of(const std::string& registrant);
  Status make_tracing();
  void build_chains();

  // ---- tables that are made from the plugins' registrations, at startup and for each change of a plugin (server_tables.cpp)
  // Reads the file of --admission-control-config-file. `idle`: the third-party plugins that do not run with `rows`.
  Result<AdmissionConfiguration> read_admission_file(const PluginRows& rows, const std::vector<std::string>& idle) const;
  Result<ServerTables> make_tables(const PluginRows& rows, AdmissionConfiguration configuration);
  // The order of authorizers in the configuration; empty: the default order.
  std::vector<AuthorizerPlace> authorizer_places(const PluginRows& rows) const;
  Result<std::shared_ptr<Authorization>> make_authorization(const PluginRows& rows) const;
  Result<AdmissionChain::Plugins> make_admission(const PluginRows& rows, const AdmissionConfiguration& configuration) const;
  // Makes and publishes the authorization again, after a plugin has changed the order of authorizers.
  Status publish_authorization();
  // Publishes the tables one after another. A request that uses a former table continues with it.
  void publish(ServerTables tables);
  Status publish_scheme_and_routes(const PluginRows& rows);
  void use_scheme(const std::shared_ptr<const Scheme>& scheme);

  // ---- changes of one plugin of the running server (server_change.cpp, plugin_actions.cpp); they block, and run one at a time
  Status replace_plugin(const std::string& name, const std::string& file);
  Status withdraw_plugin(const std::string& name);
  Array plugin_statuses() const;
  // Brings the Plugin objects up to date.
  void show_plugins();
  Result<PluginActed> act(PluginRequest request);
  Result<PluginChange> stage(const PluginRequest& request);
  Status change_plugin(PluginChange change);
  std::vector<std::string> idle_after(const PluginChange& change) const;
  Result<ServerTables> tables_of(const PluginChange& change);
  void use_hooks(const PluginChange& change, GenerationRef PluginChange::Part::*generation);
  void use_equivalents(const PluginChange& change, GenerationRef PluginChange::Part::*generation);
  // ---- the groups of plugins that do not run (server_groups.cpp)
  std::vector<TargetRef> retained_targets(const PluginRows& rows);
  Task<Status> retain_groups();
  void store_groups();
  Task<void> write_groups(std::vector<Put> puts);
  Task<void> refresh_groups();
  // The caller holds changing_plugins.
  Result<PluginActed> forget_plugin(const PluginRequest& request);
  // Handles a file of a plugin directory that is new or has changed (--plugin-watch).
  void plugin_file_changed(const std::string& file);

  // ---- the steps of prepare_run (server_prepare.cpp)
  Status collect_hooks();
  // Adds the hooks of the extension.
  Status collect_extension_hooks();
  Status install_health(const PluginRows& rows, std::vector<PathRoute>& routes);
  Status compose();
  std::vector<PathRoute> host_routes();
  // The activities for /debug/pprof/goroutine.
  Activities activities();
  void follow_mux_signals();

  // ---- run (server_run.cpp)
  Status start_serving();
  // Starts the caches. Succeeds also if the store cannot be reached yet, and then sets store_away.
  Status reach_store();
  // Starts the hooks, which need the store: now, or as soon as the store can be reached.
  void start_hooks_with_store();
  void follow_service_manager();
  void reload();
  Task<void> wait_for_store();
  Task<void> follow_certificates();
  void start_hooks();
  bool needs(const PostStartHookEntry& hook) const;
  void announce();
  Status drain();
  // The time limit of drain() and take_down() together.
  std::chrono::nanoseconds shutdown_limit() const;
  // Waits until the audit sinks have written every event, for a limited time.
  void flush_audit();
  // Waits until the recorded spans have been exported, for a limited time.
  void flush_traces();
  void stop_plugin_tasks();
  void stop_plugin_loops();
  [[noreturn]] void exit_at_once();
  void stop_storage();
  // Stops all parts. A second call has no effect.
  void take_down();

  const std::unique_ptr<const ServerContext> context;
  Config config;
  StopEvent& stop;
  DataDirLock data_dir_lock;

  // A loop per core for connections, one for the caches' pump, one for the host's other background work. Plugins have separate loops;
  // blocking calls and large requests run on the pools.
  std::optional<ServerPools> pools;
  LoopPool loops;
  PumpLoop pump;
  IoLoop background;
  IoLoop changes;  // runs changes of plugins, which may block
  FreeMemory free_memory{background, pools->blocking()};
  bool started = false;
  bool taken_down = false;
  bool storage_stopped = false;

  LifecycleSignals signals;
  // Stops the hooks and tasks of the host and of the plugins; fires after the last request that may need them.
  NamedSignal stop_hooks;
  LoggedTaskGroup tasks;
  // Of the stores' connections, the task that waits for a store at startup, and the task that renews certificates.
  LoggedTaskGroup store_tasks;
  bool store_away = false;  // the store could not be reached at startup
  WaitGroup short_requests;
  PacedWaitGroup watches;
  InFlightLimits in_flight;
  InFlightPeriods in_flight_periods{in_flight, background};
  RequestMetrics metrics;

  std::optional<ServerPki> pki;
  LateHandler root;
  LateHandler loopback_root;  // handles the calls of plugins to this server
  std::unique_ptr<SecureServer> server;
  std::string kubeconfig_path;

  StoreEnvironment stores;
  std::unique_ptr<Extension> extension;  // null: the server is not an extension of another one
  // The transformers of one plugin, for all stores.
  const std::shared_ptr<PublishedTransformers> transformers = std::make_shared<PublishedTransformers>();
  ServerFacilities facilities{*this};
  HostServices services{stores, facilities, facilities, facilities, host_names()};
  std::unique_ptr<PluginRegistry> plugins;
  std::mutex changing_plugins;
  PluginGroups plugin_groups{stores};
  std::mutex showing_plugins;
  PluginObjects plugin_objects;
  std::unique_ptr<PluginWatch> plugin_watch;  // null: --plugin-watch is not set, or the server does not serve
  std::mutex publishing_authorization;
  AdmissionConfiguration admission_configuration;  // of the published tables
  AdmissionChain admission;
  std::vector<StoreParts> all_stores;  // the main store, then the stores of --etcd-servers-overrides
  std::unique_ptr<HubOfStores> hubs;
  std::unique_ptr<TrackedCaches> caches;
  std::unique_ptr<Router> router;

  PublishedAuthentication authentication;
  FixedAuthentication loopback_authentication;
  AuditRegistrations audit;
  std::unique_ptr<ServerTracing> traces;  // null: --tracing-config-file is not set
  std::shared_ptr<NamedSignal> traces_exported = std::make_shared<NamedSignal>("exported");
  std::unique_ptr<HandlerChain> chain;
  std::unique_ptr<HandlerChain> loopback_chain;
  std::shared_ptr<HttpHandler> debug_handler;
  std::unique_ptr<UnixServer> debug_socket;
  std::unique_ptr<Watchdog> watchdog;           // null: the service manager expects no pings
  std::unique_ptr<ReloadSignal> reload_signal;  // null: no service manager

  std::vector<PathRoute> own_routes;  // the host's routes except health: metrics, …
  std::optional<MetricRules> metric_rules;
  const std::chrono::system_clock::time_point loopback_expires = std::chrono::system_clock::now() + kLoopbackLifetime;
  HealthRegistry health;
  Hooks hooks;
};

}  // namespace backplane
