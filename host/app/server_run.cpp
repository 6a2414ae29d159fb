// PreparedServer::run: start, serve, drain, and stop everything in reverse order.
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "app/debug_handlers.hpp"
#include "app/load_progress.hpp"
#include "app/log.hpp"
#include "app/pki.hpp"
#include "app/server_parts.hpp"
#include "app/service_manager.hpp"
#include "profiling/lock_waits.hpp"

namespace backplane {
namespace {

using Clock = std::chrono::steady_clock;

// Audit sinks have this long to write their last events.
constexpr std::chrono::seconds kAuditFlush{10};
// The collector has this long to take the last spans.
constexpr std::chrono::seconds kTraceFlush{5};
// A plugin's task that ignores the stop signal is not waited for any longer than this.
constexpr std::chrono::seconds kPluginTasks{10};
// A function that a plugin has posted to its executor is not waited for any longer than this.
constexpr std::chrono::seconds kPluginLoops{2};
// Time limit for closing connections and stores.
constexpr std::chrono::seconds kClosing{15};
// A post-start hook that takes longer is named in the log.
constexpr std::chrono::seconds kSlowHook{30};
// Certificates are renewed 30 days before they expire.
constexpr std::chrono::hours kRenewalInterval{12};
// Pause between two attempts to reach a store that was unavailable at startup.
constexpr std::chrono::milliseconds kFirstStorePause{100}, kLongestStorePause{2'000};

// The secure port's interface to the shutdown.
class ServedPort final : public DrainableServer {
 public:
  ServedPort(SecureServer& server, std::string address) : server_(server), address_(std::move(address)) {}
  void stop_listening(std::function<void()> done) override {
    server_.stop_listening([this, done = std::move(done)] {
      app_log().info("Stopped listening on {}:{}", address_, server_.port());
      if (done) done();
    });
  }
  void shorten_write_timeouts() override { server_.shorten_write_timeouts(); }
  void begin_drain() override { server_.begin_drain(); }
  Task<bool> wait_closed(Clock::time_point deadline) override { return server_.wait_closed(deadline); }
  void force_close() override { server_.force_close(); }

 private:
  SecureServer& server_;
  std::string address_;
};

Task<void> fire_when_idle(TaskGroup& tasks, PluginRegistry& plugins, std::shared_ptr<NamedSignal> ended) {
  co_await tasks.wait_all();
  auto waiting = plugins.wait_tasks();
  co_await std::move(waiting);
  ended->fire();
}

Task<void> close_at_once(UnixServer& server) {
  server.stop_listening();
  server.begin_drain();
  server.force_close();
  bool closed = co_await server.wait_closed(Clock::now() + std::chrono::seconds(5));
  if (!closed) app_log().error("a handler of the debug socket is still running");
}

// Destroys the ReloadSignal on its loop.
Task<void> drop(std::unique_ptr<ReloadSignal> signal) {
  signal.reset();
  co_return;
}

bool is_away(const Status& status) { return status.code() == 503 || status.code() == 504; }

// A hook has the time limit of a request, or a default if requests have none.
std::chrono::nanoseconds pre_shutdown_limit(const GenericServerRunOptions& generic) {
  const auto limit = generic.request_timeout;
  return limit > std::chrono::nanoseconds::zero() ? limit : std::chrono::nanoseconds(std::chrono::minutes(1));
}

// Makes stores that must request their size do so at startup, so that the first scrape of /metrics has it.
void ask_sizes(const StorageOptions& options, const std::vector<StoreParts>& stores) {
  if (options.db_metric_poll_interval <= std::chrono::nanoseconds::zero()) return;
  for (const StoreParts& store : stores) (void)store.storage->size_bytes();
}

}  // namespace

Status ServerParts::start_serving() {
  started = true;
  pump.start();
  in_flight_periods.start();
  background.start();
  changes.start();
  if (traces) spawn_detached(background, traces->run(), [ended = traces_exported] { ended->fire(); });
  plugins->start_loops();
  if (Status status = reach_store(); !status.ok()) return status;
  for (const StoreParts& store : all_stores) {
    if (store.compactor) store.compactor->start();
  }
  free_memory.start();
  if (options().features.contention_profiling) profiling::record_lock_waits();
  if (const auto& path = options().features.debug_socket_path; !path.empty()) {
    debug_handler = make_debug_only_handler(*loopback_chain, activities());
    debug_socket = std::make_unique<UnixServer>(path, loops, *debug_handler);
    if (Status status = debug_socket->start(); !status.ok()) {
      debug_socket.reset();
      return status;
    }
    app_log().info("the debug socket accepts requests without authentication path={}", path);
  }
  // Connections that the kernel has accepted since the port was bound are served from here on.
  loops.start();
  store_tasks.spawn(background, "renewing certificates", follow_certificates());
  follow_service_manager();
  return {};
}

// Implements systemd's protocol for a service of the type notify: ready, alive, reloading.
void ServerParts::follow_service_manager() {
  ServiceManager& manager = service_manager();
  if (Status status = manager.notify("READY=1\n"); !status.ok()) {
    app_log().error("Unable to send systemd daemon successful start message error={}", status.message());
  }
  if (manager.present()) reload_signal = std::make_unique<ReloadSignal>(background, [this] { reload(); });
  if (manager.watchdog() <= std::chrono::microseconds::zero()) return;
  std::vector<Executor*> visited{&background, &pump};
  for (std::size_t i = 0; i < loops.size(); ++i) visited.push_back(&loops.loop(i));
  visited.push_back(&background);
  // As sd_watchdog_enabled(3) recommends: two pings in each watchdog period.
  watchdog = std::make_unique<Watchdog>(std::move(visited), manager.watchdog() / 2, [] { (void)service_manager().notify("WATCHDOG=1\n"); });
  watchdog->start();
}

void ServerParts::reload() {
  const auto now = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now().time_since_epoch());
  (void)service_manager().notify("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(now.count()) + "\n");
  const bool changed = server->reload_certificates();
  app_log().info("reloading on SIGHUP certificates-changed={}; changes of other files are detected without a signal", changed);
  (void)service_manager().notify("READY=1\n");
}

Status ServerParts::reach_store() {
  // The store is asked first, because it returns within its time limit.  A store with a fault (a full disk) still serves reads.
  const auto limit = std::chrono::duration_cast<std::chrono::milliseconds>(options().storage.readycheck_timeout);
  Status reached;
  for (const StoreParts& store : all_stores) {
    if (!is_away(reached)) reached = run_on(background, store.storage->health(limit));
  }
  if (!is_away(reached)) reached = run_on(background, caches->start());
  store_away = is_away(reached);
  if (reached.ok()) {
    report_loading(
        background, [this] { return load_state(*caches); },
        [](const std::string& text) { (void)service_manager().notify("STATUS=" + text + "\n"); });
  }
  if (!store_away) return reached;
  app_log().warn("the store cannot be reached, requests that need it wait error={:?}", reached.message());
  return {};
}

void ServerParts::start_hooks_with_store() {
  if (store_away) {
    store_tasks.spawn(background, "reaching the store", wait_for_store());
  } else {
    start_hooks();
  }
}

Task<void> ServerParts::follow_certificates() {
  Sleeper sleeper(stop_hooks);
  bool running = co_await sleeper.sleep(kRenewalInterval);
  while (running) {
    Result<bool> renewed = false;
    auto renewing = run_blocking([this, &renewed] { renewed = renew_certificates(options(), *pki, server->port()); });
    co_await std::move(renewing);
    if (!renewed.ok()) {
      app_log().error("cannot renew the certificates error={:?}", renewed.status().message());
    } else if (*renewed) {
      app_log().info("certificates have been renewed, copies of the kubeconfig expire kubeconfig={}", kubeconfig_path);
    }
    running = co_await sleeper.sleep(kRenewalInterval);
  }
}

Task<void> ServerParts::wait_for_store() {
  const auto begun = Clock::now();
  Sleeper sleeper(stop_hooks);
  std::chrono::milliseconds pause = kFirstStorePause;
  bool running = co_await sleeper.sleep(pause);
  Status followed;
  while (running) {
    auto following = caches->start();
    followed = co_await std::move(following);
    if (followed.ok()) break;
    app_log().debug("the store cannot be reached error={:?}", followed.message());
    pause = std::min(2 * pause, kLongestStorePause);
    running = co_await sleeper.sleep(pause);
  }
  if (!running || signals.shutdown_initiated.fired()) co_return;
  const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begun);
  app_log().info("the store has been reached waited={}ms", waited.count());
  start_hooks();
}

void ServerParts::start_hooks() {
  ask_sizes(options().storage, all_stores);
  hooks.all_done().on_fire([this] { announce(); });
  hooks.start(
      tasks, [this](const std::string& registrant) -> Executor& { return executor_of(registrant); }, stop_hooks);
  hooks.report_slow(background, kSlowHook);
}

void ServerParts::announce() {
  if (signals.shutdown_initiated.fired()) return;
  plugins->note_started();
  plugins->on_runner_change([this] { show_plugins(); });
  show_plugins();
  if (options().backplane.plugin_watch) {
    plugin_watch = std::make_unique<PluginWatch>(options().backplane.plugin_dirs, [this](const auto& file) { plugin_file_changed(file); });
  }
  app_log().info("serving url={} data-dir={}", local_url(options(), server->port()), options().backplane.data_dir);
  (void)service_manager().notify("STATUS=serving " + local_url(options(), server->port()) + "\n");
  flush_logs();
  std::printf("export KUBECONFIG=%s\n", kubeconfig_path.c_str());
  std::fflush(stdout);
}

Status ServerParts::drain() {
  ServedPort port(*server, options().secure_serving.bind_address);
  const auto& generic = options().generic;
  ShutdownOptions shutdown{generic.shutdown_delay_duration, generic.shutdown_send_retry_after,
                           generic.shutdown_watch_termination_grace_period, generic.request_timeout};
  const auto pre_shutdown = [this] {
    return hooks.run_pre_shutdown(
        tasks, [this](const std::string& registrant) -> Executor& { return executor_of(registrant); },
        pre_shutdown_limit(options().generic));
  };
  return run_on(background, run_shutdown({shutdown, signals, short_requests, watches, port, pre_shutdown}));
}

std::chrono::nanoseconds ServerParts::shutdown_limit() const {
  const auto& generic = options().generic;
  // Requests without a limit are waited for.
  if (generic.request_timeout <= std::chrono::nanoseconds::zero()) return std::chrono::hours(24);
  const auto hooks_limit = static_cast<long>(hooks.pre_shutdown_count()) * pre_shutdown_limit(generic);
  return generic.shutdown_delay_duration + generic.request_timeout + generic.shutdown_watch_termination_grace_period + hooks_limit +
         kAuditFlush + kTraceFlush + kPluginTasks + kPluginLoops + kClosing;
}

void ServerParts::flush_audit() {
  if (audit.empty()) return;
  auto flushed = std::make_shared<NamedSignal>("flushed");
  spawn_detached(background, audit.flush(), [flushed] { flushed->fire(); });
  if (!run_on(background, wait_for(*flushed, kAuditFlush))) app_log().error("audit sinks did not write their last events in time");
}

void ServerParts::flush_traces() {
  if (!traces) return;
  traces->stop();
  if (!run_on(background, wait_for(*traces_exported, kTraceFlush))) app_log().error("the last spans were not exported in time");
}

void ServerParts::stop_plugin_tasks() {
  stop_hooks.fire();
  tasks.close();
  plugins->end_retirement_waits();
  plugins->stop_tasks();
  auto ended = std::make_shared<NamedSignal>("ended");
  spawn_detached(background, fire_when_idle(tasks, *plugins, ended));
  const bool in_time = run_on(background, wait_for(*ended, kPluginTasks));
  if (in_time) return;
  // A task still runs, and destroying the objects that it uses would crash.  The store is closed and the process exits.
  app_log().error("background tasks did not end, exiting without them count={}", tasks.running() + plugins->running_tasks());
  exit_at_once();
}

// A plugin that blocks its thread may still use objects, so these are not destroyed.
void ServerParts::stop_plugin_loops() {
  const auto stuck = plugins->stop_loops(kPluginLoops);
  if (stuck.empty()) return;
  for (const auto& plugin : stuck) app_log().error("a plugin blocks its executor, exiting without it plugin={}", plugin);
  exit_at_once();
}

void ServerParts::exit_at_once() {
  if (!storage_stopped) stop_storage();
  flush_logs();
  std::_Exit(1);
}

void ServerParts::stop_storage() {
  storage_stopped = true;
  for (const StoreParts& store : all_stores) {
    if (store.compactor) run_on(background, store.compactor->stop());
  }
  if (caches) run_on(background, caches->stop());
  Status stopped;
  for (const StoreParts& store : all_stores) {
    Status status = run_on(background, store.storage->stop());
    if (stopped.ok()) stopped = std::move(status);
  }
  store_tasks.close();
  run_on(background, store_tasks.wait_all());
  if (!stopped.ok()) app_log().error("storage did not stop cleanly error={}", stopped.message());
}

void ServerParts::take_down() {
  if (std::exchange(taken_down, true)) return;
  plugin_watch.reset();
  if (reload_signal) run_on(background, drop(std::move(reload_signal)));
  if (watchdog) watchdog->stop();
  if (started) {
    if (debug_socket) run_on(background, close_at_once(*debug_socket));
    flush_audit();
    flush_traces();
    stop_plugin_tasks();
    stop_plugin_loops();
    stop_storage();
  }
  free_memory.stop();
  changes.stop();
  loops.stop();
  background.stop();
  pump.stop();
  pools.reset();
  // The members are declared so that references to plugins' code are destroyed before the plugins. The stores release the caches first.
  stores.stop();
  debug_socket.reset();
  server.reset();
}

}  // namespace backplane
