// Server::create: makes a server from a valid configuration.
#include <algorithm>
#include <cstdlib>
#include <future>

#include "app/flag_plugins.hpp"
#include "app/log.hpp"
#include "app/server_parts.hpp"
#include "app/service_manager.hpp"
#include "app/service_ranges.hpp"
#include "app/unsupported_flags.hpp"
#include "backplane/net/egress.hpp"
#include "client/remote_client.hpp"
#include "http/local_client.hpp"
#include "registry/served_conversion.hpp"
#include "storage/backend_key.hpp"
#include "storage/memory_storage.hpp"

namespace backplane {
namespace {

constexpr std::string_view kEtcdBackend = "etcd3";
// The interval at which caches are compared with their stores (upstream's).
constexpr std::chrono::minutes kComparisonPeriod{5};

// True if BACKPLANE_SAFE_MODE has a value other than "", "0" and "false".
bool environment_asks_for_safe_mode() {
  const char* const text = std::getenv("BACKPLANE_SAFE_MODE");
  const std::string_view value = text != nullptr ? text : "";
  return !value.empty() && value != "0" && value != "false";
}

}  // namespace

Status ServerParts::take_data_dir() {
  const std::string& data_dir = options().backplane.data_dir;
  if (Status status = make_private_directory(data_dir); !status.ok()) return status;
  auto lock = DataDirLock::take(data_dir);
  if (!lock.ok()) return std::move(lock.status());
  data_dir_lock = std::move(*lock);
  return {};
}

// Certificates wait for the disk and plugins for the dynamic linker, so both run in parallel.
Status ServerParts::bind_and_open() {
  const auto& own = options().backplane;
  PluginOptions wanted{own.plugin_dirs, own.disable_plugins, own.require_plugins, own.data_dir + "/plugins-gen", options().storage.backend};
  wanted.required_by_flags = plugins_of_flags(options().flags);
  wanted.call_limit = own.plugin_call_timeout;
  if (own.extension) wanted.more_capabilities = Extension::capabilities(*own.extension);
  if (wanted.call_limit > std::chrono::nanoseconds::zero()) wanted.probe_limit = std::min(wanted.probe_limit, wanted.call_limit);
  if (auto placements = read_placements(own.plugin_placements); placements.ok()) wanted.placements = std::move(*placements);
  wanted.runner_limit = own.plugin_runner_timeout;
  wanted.history_dir = own.data_dir;
  wanted.probe_program = own.program;
  wanted.safe_mode = own.safe_mode || environment_asks_for_safe_mode();
  auto binding = std::async(std::launch::async, [this] { return bind_port(); });
  auto opened = PluginRegistry::open(wanted);
  Status bound = binding.get();
  if (!bound.ok()) return bound;
  if (!opened.ok()) return std::move(opened.status());
  plugins = std::move(*opened);
  return {};
}

Status ServerParts::bind_port() {
  auto made = prepare_pki(options());
  if (!made.ok()) return std::move(made.status());
  pki = std::move(*made);
  auto listener = service_manager().take_listener();
  if (!listener.ok()) return std::move(listener.status());
  pki->serving.inherited_socket = listener->release();
  pki->serving.limits.gzip = config.feature_gates().enabled("APIResponseCompression");
  server = std::make_unique<SecureServer>(pki->serving, loops, root);
  // Connections wait in the kernel until the loops run.
  if (Status status = server->start(); !status.ok()) {
    server.reset();
    return status;
  }
  auto path = write_admin_kubeconfig(options(), *pki, server->port());
  if (!path.ok()) return std::move(path.status());
  kubeconfig_path = std::move(*path);
  return {};
}

void ServerParts::make_router() {
  RouterConfig router_config;
  router_config.admission = &admission;
  router_config.enablement = config.enablement();
  router_config.unsafe_deletes = config.feature_gates().enabled("AllowUnsafeMalformedObjectDeletion");
  router_config.min_request_timeout = std::chrono::seconds(options().generic.min_request_timeout);
  // Watches end when the server stops accepting requests: after a clean end a client reconnects at once, after a cut connection it does
  // not.
  router_config.shutting_down = &signals.not_accepting_new_request;
  router_config.addresses = [external = with_port(options().generic.external_hostname, server->port()),
                             range = service_range(options())](std::string_view client) {
    std::vector<ServerAddress> addresses(1, ServerAddress{"0.0.0.0/0", external});
    if (auto inside = service_address_for(range, std::string(client))) {
      addresses.push_back({std::move(inside->first), std::move(inside->second)});
    }
    return addresses;
  };
  router_config.enable_profiling = options().features.profiling;
  router_config.openapi_cbor = offers_cbor();
  router_config.version = config.version();
  router_config.openapi_enums = config.feature_gates().enabled("OpenAPIEnums");
  router = std::make_unique<Router>(std::move(router_config));
  facilities.routing_began();
}

Status ServerParts::make_extension() {
  const auto& settings = options().backplane.extension;
  if (!settings) return {};
  auto outer = make_remote_client(background, store_tasks, settings->outer, &loops);
  if (!outer.ok()) return bad_request("--kubeconfig: " + outer.status().message());
  extension = std::make_unique<Extension>(*settings, std::move(*outer), [this] { return router->group_versions(); });
  return {};
}

Status ServerParts::load() {
  auto objects = PluginObjects::make(std::string(kTheHost));
  if (!objects.ok()) return std::move(objects.status());
  plugin_objects = std::move(*objects);
  Status started = plugins->start(services);
  if (!started.ok()) return started;
  const auto rows = plugins->rows();
  for (const auto& delegate : rows->delegates) {
    services.equivalents.set(delegate->name, delegate->groups);
    for (const auto& group : delegate->groups) app_log().debug("Enabling API group {:?}. plugin={}", group.group, delegate->name);
  }
  return {};
}

Executor& ServerParts::executor_of(const std::string& registrant) {
  Executor* const executor = registrant == kTheHost ? nullptr : plugins->executor_of(registrant);
  return executor != nullptr ? *executor : background;
}

// The flag errors that depend on the loaded plugins, reported together.
Status ServerParts::check_offers() {
  Problems problems;
  check_runtime_config(problems);
  Offers offers;
  const auto rows = plugins->rows();
  for (const auto& each : rows->authorizers) offers.authorizers.emplace_back(each->name());
  for (const auto& each : rows->admission) offers.admission.push_back(each.name);
  offers.storage_backends.emplace_back(kMemoryBackend);
  for (const auto& [name, _] : rows->storage_backends) offers.storage_backends.push_back(name);
  offers.idle_plugins = idle_plugins();
  check_unsupported_flags(options(), offers, problems);
  return problems.empty() ? Status() : problems_error(problems);
}

// Third-party plugins that were found and do not run.
std::vector<std::string> ServerParts::idle_plugins() const {
  std::vector<std::string> names;
  for (const PluginStatus& status : plugins->statuses()) {
    if (!status.runs() && !status.in_tree) names.push_back(status.name);
  }
  return names;
}

Result<std::unique_ptr<StorageBackend>> ServerParts::open_backend(const std::string& name) {
  StorageBackendConfig backend_config;
  const std::string& embedded = options().storage.embedded_dir;
  backend_config.data_dir = (embedded.empty() ? options().backplane.data_dir : embedded) + "/" + options().storage.backend;
  backend_config.unsafe_no_fsync = options().storage.unsafe_no_fsync;
  backend_config.stored_form = options().storage.stored_form();
  auto egress = EgressSelector::read(options().flags.text("egress-selector-config-file").value_or(""));
  if (!egress.ok()) return std::move(egress).status();
  backend_config.connections.make_client = [this, dial = (*egress)->dialer(EgressType::kEtcd)](ClientConfig client) {
    client.dial = dial;
    return make_remote_client(background, store_tasks, std::move(client), &loops);
  };
  backend_config.connections.executor = &background;
  if (Status status = make_private_directory(backend_config.data_dir); !status.ok()) return status;
  const auto rows = plugins->rows();
  const auto factory = rows->storage_backends.find(name);
  if (factory == rows->storage_backends.end()) return bad_request("no plugin offers the store " + backplane::quoted(name));
  return factory->second(backend_config);
}

StoreSettings ServerParts::store_settings() const {
  StoreSettings settings;
  settings.delete_collection_workers = options().storage.delete_collection_workers;
  settings.garbage_collection = options().storage.enable_garbage_collector;
  settings.lease_reuse = std::chrono::seconds(options().storage.lease_reuse_seconds);
  settings.serves = [this](const GroupVersionResource& resource) { return config.enablement().resource_enabled(resource); };
  settings.gates = [gates = config.feature_gates()](std::string_view gate) { return gates.enabled(gate); };
  return settings;
}

StoreParts& ServerParts::add_store(std::unique_ptr<StorageBackend> storage, std::string servers) {
  CacheOptions caching;
  caching.names_unreadable = config.feature_gates().enabled("AllowUnsafeMalformedObjectDeletion");
  StoreParts store;
  store.servers = std::move(servers);
  store.storage = std::move(storage);
  store.held = std::make_unique<HeldStorage>(*store.storage);
  store.measured = std::make_unique<MeasuredStorage>(*store.held);
  store.encoded = std::make_unique<EncodedStorage>(*store.measured, transformers);
  if (options().storage.backend == kEtcdBackend) store.encoded->name_keys_by(BackendKeys(options().storage.etcd_prefix));
  store.encoded->use_scheme(plugins->rows()->scheme);
  if (caching.names_unreadable) store.encoded->log_corrupt_objects();
  if (config.feature_gates().enabled("DetectCacheInconsistency")) caching.comparison_period = kComparisonPeriod;
  if (const auto interval = options().storage.compaction_interval; interval > std::chrono::nanoseconds::zero()) {
    store.compactor = std::make_unique<Compactor>(*store.storage, background, interval);
    caching.compacted = store.compactor->compacted();
  }
  store.hub = make_cache_hub(*store.encoded, pump, std::move(caching));
  all_stores.push_back(std::move(store));
  return all_stores.back();
}

Status ServerParts::open_storage() {
  const std::string& name = options().storage.backend;
  if (name == kMemoryBackend) {
    add_store(make_memory_storage(options().storage.stored_form()), "");
  } else {
    auto opened = open_backend(name);  // check_offers() has checked it
    if (!opened.ok()) return std::move(opened.status());
    add_store(std::move(*opened), "");
  }
  stores.use_scheme(plugins->rows()->scheme);
  if (Status status = open_other_stores(); !status.ok()) return status;
  const auto& flags = options().storage;
  hubs = std::make_unique<HubOfStores>(all_stores, ConfirmedReads::of(flags.watch_cache, flags.watch_cache_sizes));
  caches = std::make_unique<TrackedCaches>(*hubs);
  const auto use_kind = [this](std::string_view prefix, const StoredKind* kind) {
    for (const StoreParts& store : all_stores) {
      if (kind != nullptr) {
        store.encoded->use_kind(prefix, *kind);
      } else {
        store.encoded->forget_kind(prefix);
      }
    }
  };
  stores.start(*all_stores.front().encoded, *caches, admission, use_kind, store_settings());
  // The resources of all plugins are known here; custom resources, which may be added later, cannot be overridden.
  for (const GroupResource& each : hubs->unused()) {
    app_log().warn(
        "--etcd-servers-overrides: {}/{} has no effect: definitions, custom resources and APIServices stay with --etcd-servers, and no "
        "other "
        "resource has that name",
        each.group, each.resource);
  }
  return {};
}

// Opens one store for each set of servers, in the order of the flag.
Status ServerParts::open_other_stores() {
  auto overrides = parse_store_overrides(options().storage.etcd_servers_overrides);
  if (!overrides.ok()) return std::move(overrides.status());
  for (StoreOverride& each : *overrides) {
    auto found = std::find_if(all_stores.begin() + 1, all_stores.end(), [&](const auto& other) { return other.servers == each.servers; });
    if (found == all_stores.end()) {
      auto opened = open_backend(override_backend(options().storage.backend, each.servers));
      if (!opened.ok()) return std::move(opened.status());
      add_store(std::move(*opened), each.servers);
      found = all_stores.end() - 1;
    }
    stores.use_override_store(each.resource, *found->encoded);
    found->resources.push_back(std::move(each.resource));
  }
  return {};
}

Status ServerParts::make_tracing() {
  auto made = ServerTracing::make(
      options().flags, [this](ClientConfig client) { return make_remote_client(background, store_tasks, std::move(client), &loops); });
  if (!made.ok()) return std::move(made.status());
  traces = std::move(*made);
  return {};
}

void ServerParts::build_chains() {
  router->use_authorizer(services.authorizer);

  const auto& generic = options().generic;
  ChainConfig chain_config;
  chain_config.authentication = &authentication;
  chain_config.authorization = &services.authorizer;
  chain_config.mux_and_discovery_complete = &signals.mux_and_discovery_complete;
  chain_config.not_accepting_new_request = &signals.not_accepting_new_request;
  chain_config.short_requests = &short_requests;
  chain_config.watches = &watches;
  chain_config.in_flight = &in_flight;
  chain_config.gate = plugins->rows()->request_gate.get();
  chain_config.metrics = &metrics;
  chain_config.audit = &audit;
  if (traces) chain_config.tracer = &traces->tracer();
  chain_config.shutdown_send_retry_after = generic.shutdown_send_retry_after;
  chain_config.shutdown_watch_termination_grace_period = generic.shutdown_watch_termination_grace_period;
  chain_config.request_timeout = generic.request_timeout;
  chain_config.offers_cbor = offers_cbor();
  chain_config.goaway_chance = generic.goaway_chance;
  chain_config.close_after_unauthenticated = config.feature_gates().enabled("UnauthenticatedHTTP2DOSMitigation");
  chain_config.request_header = options().authentication.request_header;
  chain_config.constrained_impersonation = config.feature_gates().enabled("ConstrainedImpersonation");
  chain_config.strict_transport_security_directives = generic.strict_transport_security_directives;
  chain_config.cors_allowed_origins = generic.cors_allowed_origins;
  chain = std::make_unique<HandlerChain>(chain_config, *router);
  chain_config.authentication = &loopback_authentication;
  loopback_chain = std::make_unique<HandlerChain>(chain_config, *router);
  loopback_root.set(*loopback_chain);
  root.set(*chain);
}

}  // namespace backplane
