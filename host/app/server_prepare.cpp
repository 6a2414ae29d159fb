// Server::prepare_run: installs the handlers and hooks of the host and of all plugins; nothing can be added afterwards.
#include <algorithm>

#include "app/debug_handlers.hpp"
#include "app/health_checks.hpp"
#include "app/logs_handler.hpp"
#include "app/metrics_handler.hpp"
#include "app/pki.hpp"
#include "app/plugin_handler.hpp"
#include "app/server_parts.hpp"
#include "app/store_handler.hpp"
#include "app/zpages.hpp"
#include "transport/certificates.hpp"

namespace backplane {
namespace {

// Waits until all required caches are loaded, or until `limit` has passed. Always succeeds.
Task<Status> wait_for_caches(const TrackedCaches& caches, std::chrono::nanoseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  for (const auto& cache : caches.eager()) {
    while (!cache->ready() && std::chrono::steady_clock::now() < deadline) {
      Status status = co_await cache->wait_current();
      // A store that returns errors is asked again after a pause.
      if (!status.ok()) co_await sleep_for(std::chrono::milliseconds(100));
    }
  }
  co_return Status();
}

// Upstream's hooks for stages that are complete before hooks run. They exist because tools wait for these names. (The caches count the
// objects, so storage-object-count-tracker-hook has no work.)
constexpr std::string_view kStages[] = {"generic-apiserver-start-informers", "start-apiserver-admission-initializer",
                                        "storage-object-count-tracker-hook"};

// The hook is added if requests are limited by their number alone (no priority and fairness).
constexpr std::string_view kLimitsHook = "max-in-flight-filter";

// The hook is disabled if the authorizer RBAC is not in use, because nothing needs the default roles then.
constexpr std::string_view kRolesHook = "rbac/bootstrap-roles";

Task<Status> passed() { co_return Status(); }

bool has_period(std::chrono::nanoseconds period) { return period > std::chrono::nanoseconds::zero(); }

}  // namespace

Status ServerParts::collect_hooks() {
  const TrackedCaches* all_caches = caches.get();
  const auto limit = options().generic.storage_initialization_timeout;
  PostStartHookEntry readiness{"storage-readiness",
                               [all_caches, limit](PostStartHookContext) { return wait_for_caches(*all_caches, limit); },
                               std::string(kTheHost)};
  if (config.feature_gates().enabled("WatchCacheInitializationPostStartHook")) {
    if (Status status = hooks.add(std::move(readiness)); !status.ok()) return status;
  }
  for (const std::string_view name : kStages) {
    PostStartHookEntry stage{std::string(name), [](PostStartHookContext) { return passed(); }, std::string(kTheHost)};
    if (Status status = hooks.add(std::move(stage)); !status.ok()) return status;
  }
  PostStartHookEntry groups{"plugin-groups", [this](PostStartHookContext) { return retain_groups(); }, std::string(kTheHost)};
  if (Status status = hooks.add(std::move(groups)); !status.ok()) return status;
  const auto rows = plugins->rows();
  const auto order = authorizer_places(*rows);
  if (!order.empty() && std::none_of(order.begin(), order.end(), [](const AuthorizerPlace& place) { return place.type == "RBAC"; })) {
    hooks.disable(std::string(kRolesHook));
  }
  if (rows->request_gate == nullptr) {
    PostStartHookEntry limits{std::string(kLimitsHook), [](PostStartHookContext) { return passed(); }, std::string(kTheHost)};
    if (Status status = hooks.add(std::move(limits)); !status.ok()) return status;
  }
  if (Status status = collect_extension_hooks(); !status.ok()) return status;
  for (const auto& delegate : rows->delegates) {
    for (const auto& hook : delegate->post_start_hooks) {
      if (Status status = hooks.add(hook); !status.ok()) return status;
    }
    for (const auto& hook : delegate->pre_shutdown_hooks) {
      if (Status status = hooks.add(hook); !status.ok()) return status;
    }
  }
  return {};
}

Status ServerParts::collect_extension_hooks() {
  if (!extension) return {};
  PostStartHookEntry start{"start-registration",
                           [this](PostStartHookContext context) -> Task<Status> {
                             auto ca = read_file(options().backplane.extension->ca_file);
                             if (!ca.ok()) co_return std::move(ca).status();
                             RunnerAddress address{server->port(), std::move(*ca)};
                             co_return extension->start(tasks, context.executor, stop_hooks, std::move(address));
                           },
                           std::string(kTheHost)};
  if (Status status = hooks.add(std::move(start)); !status.ok()) return status;
  return hooks.add(PreShutdownHookEntry{"stop-registration", [this] { return extension->stop(); }, std::string(kTheHost)});
}

Status ServerParts::install_health(const PluginRows& rows, std::vector<PathRoute>& routes) {
  health.reopen();
  std::vector<StorageBackend*> others;
  for (std::size_t i = 1; i < all_stores.size(); ++i) others.push_back(all_stores[i].storage.get());
  HealthCheckParts parts{
      main_store(),    std::move(others), *caches, options().storage.healthcheck_timeout, options().storage.readycheck_timeout,
      loopback_expires};
  if (Status status = add_host_checks(health, parts); !status.ok()) return status;
  std::vector<PlacedCheck> checks;
  if (extension) checks.push_back({extension->health_check(), {.healthz = false, .livez = false}});
  for (auto& check : hooks.health_checks()) checks.push_back({std::move(check), {.boot_sequence = true}});
  for (const auto& delegate : rows.delegates) {
    for (const auto& entry : delegate->health_checks) checks.push_back({entry.check, entry.where});
  }
  if (Status status = add_in_known_order(health, std::move(checks)); !status.ok()) return status;
  if (Status status = add_shutdown_check(health, signals.shutdown_initiated); !status.ok()) return status;
  auto installed = health.install([this] { signals.has_been_ready.fire(); });
  routes.insert(routes.end(), std::make_move_iterator(installed.begin()), std::make_move_iterator(installed.end()));
  return {};
}

Status ServerParts::compose() {
  auto rules = MetricRules::make(options().metrics);
  if (!rules.ok()) return std::move(rules.status());
  metric_rules = std::move(*rules);
  own_routes = host_routes();
  const auto rows = plugins->rows();
  router->use_peers(rows->peer_servers);
  show_plugins();
  return publish_scheme_and_routes(*rows);
}

std::vector<PathRoute> ServerParts::host_routes() {
  std::vector<PathRoute> routes;
  std::vector<const StorageBackend*> sizes;
  for (const StoreParts& store : all_stores) sizes.push_back(store.storage.get());
  const auto& reads = options().storage;
  routes.push_back({"/metrics", false, true,
                    make_metrics_handler({metrics, services.authorizer, in_flight, *caches,
                                          ConfirmedReads::of(reads.watch_cache, reads.watch_cache_sizes), std::move(sizes),
                                          config.feature_gates(), config.version(), server->counters(), plugins->rows()->request_gate.get(),
                                          options().features.profiling, has_period(options().storage.count_metric_poll_period),
                                          has_period(options().storage.db_metric_poll_interval), [this] { return plugins->statuses(); }},
                                         *metric_rules)});
  routes.push_back({"/metrics/slis", false, true, make_slis_handler(health, *metric_rules)});
  if (options().flags.text("enable-logs-handler") == "true") routes.push_back({"/logs", true, true, make_logs_handler()});
  if (extension) {
    for (auto& route : extension->routes()) routes.push_back(std::move(route));
  }
  const FeatureGates& gates = config.feature_gates();
  if (gates.enabled("ComponentStatusz")) {
    routes.push_back({"/statusz", false, true, make_statusz_handler(config.version(), [this] { return router->index_paths(); })});
  }
  if (gates.enabled("ComponentFlagz")) routes.push_back({"/flagz", false, true, make_flagz_handler(options().flags.texts())});
  if (options().features.profiling) {
    for (auto& route : debug_routes(activities())) routes.push_back(std::move(route));
  }
  for (auto& route : store_routes(main_store())) routes.push_back(std::move(route));
  const auto act_on = [this](const PluginRequest& request) { return act(request); };
  for (auto& route : plugin_routes({[this] { return plugin_statuses(); }, act_on, changes})) routes.push_back(std::move(route));
  return routes;
}

void ServerParts::follow_mux_signals() {
  auto waiting = std::make_shared<std::atomic<std::size_t>>(1);
  const auto one_complete = [this, waiting] {
    if (waiting->fetch_sub(1) == 1) signals.mux_and_discovery_complete.fire();
  };
  const auto rows = plugins->rows();
  for (const auto& delegate : rows->delegates) {
    for (const auto& [_, signal] : delegate->mux_and_discovery_signals) {
      waiting->fetch_add(1);
      signal->on_fire(one_complete);
    }
  }
  // The signal of a delegate fires when its hook has run. If no delegate has a signal, mux_and_discovery_complete fires here.
  one_complete();
}

}  // namespace backplane
