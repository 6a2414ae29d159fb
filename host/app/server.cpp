#include "app/server.hpp"

#include <algorithm>
#include <cstdlib>

#include "app/flag_plugins.hpp"
#include "app/health_checks.hpp"
#include "app/log.hpp"
#include "app/server_parts.hpp"
#include "app/service_manager.hpp"
#include "app/stop_deadline.hpp"
#include "base/cpu_limit.hpp"
#include "plugin/call_thread.hpp"
#include "security/users.hpp"

namespace backplane {
namespace {

// klog.Fatal's exit code.
constexpr int kFatalExit = 255;

// A server whose startup has failed serves only a part of its APIs, so the process exits.  Acknowledged writes are on the disk.
void exit_fatally(std::string_view why) {
  app_log().critical("{}", why);
  flush_logs();
  std::_Exit(kFatalExit);
}

// If --offload-threads is 0, half of the cores process large bodies; the other half answers small requests.
PoolSizes pool_sizes(const BackplaneOptions& options) {
  const auto offload = static_cast<std::size_t>(options.offload_threads);
  return {static_cast<std::size_t>(options.blocking_threads), offload > 0 ? offload : std::max<std::size_t>(usable_cores() / 2, 1)};
}

}  // namespace

ServerParts::ServerParts(std::unique_ptr<const ServerContext> context_in, Config config_in, StopEvent& stop_in)
    : context(std::move(context_in)),
      config(std::move(config_in)),
      stop(stop_in),
      pools(std::in_place, pool_sizes(options().backplane)),
      loops(usable_cores()),
      pump("cache"),
      background("background"),
      changes("plugin-changes", /*may_block=*/true),
      stop_hooks("StopPlugins"),
      in_flight(options().generic.max_requests_inflight, options().generic.max_mutating_requests_inflight),
      loopback_authentication(loopback_user()),
      health(options().generic.livez_grace_period),
      hooks(exit_fatally, [this](const PostStartHookEntry& hook) { return needs(hook); }) {}

ServerParts::~ServerParts() {
  if (plugins) plugins->on_runner_change({});
  take_down();
  // authorizer and tokens hold objects of plugins, which are destroyed before the services.
  services.authorizer.withdraw();
  services.tokens.withdraw();
  facilities.routing_ends();
}

// As upstream, the process exits if a hook of the host fails, a hook that kube-apiserver also has, or a hook of a plugin that must run.
bool ServerParts::needs(const PostStartHookEntry& hook) const {
  const auto& required = options().backplane.require_plugins;
  return hook.registrant == kTheHost || is_upstream_hook(hook.name) || plugins_of_flags(options().flags).contains(hook.registrant) ||
         std::find(required.begin(), required.end(), hook.registrant) != required.end();
}

void ServerPartsDeleter::operator()(ServerParts* parts) const noexcept { delete parts; }

Result<Server> Server::create(Config config, StopEvent& stop) {
  auto context = ServerContext::make();
  if (!context.ok()) return std::move(context.status());
  const ServerScope scope((*context)->slot());
  config.options().logs.apply();
  ServerPartsPtr parts(new ServerParts(std::move(*context), std::move(config), stop));
  // The port is bound before the store is opened. If another server has the port, startup fails before it opens anything that server uses.
  if (Status status = parts->take_data_dir(); !status.ok()) return status;
  if (Status status = parts->bind_and_open(); !status.ok()) return status;
  parts->make_router();
  if (Status status = parts->make_extension(); !status.ok()) return status;
  if (Status status = parts->load(); !status.ok()) return status;
  if (Status status = parts->check_offers(); !status.ok()) return status;
  auto configuration = parts->read_admission_file(*parts->plugins->rows(), parts->idle_plugins());
  if (!configuration.ok()) return std::move(configuration.status());
  auto tables = parts->make_tables(*parts->plugins->rows(), std::move(*configuration));
  if (!tables.ok()) return std::move(tables.status());
  if (parts->extension) {
    if (Status status = parts->extension->use_tables(*parts->plugins->rows(), tables->admission); !status.ok()) return status;
  }
  parts->publish(std::move(*tables));
  parts->report_admission(*parts->plugins->rows());
  if (Status status = parts->open_storage(); !status.ok()) return status;
  if (Status status = parts->make_tracing(); !status.ok()) return status;
  parts->build_chains();
  return Server(std::move(parts));
}

Result<PreparedServer> Server::prepare_run(Server server) {
  ServerParts& parts = *server.parts_;
  const ServerScope scope(parts.context->slot());
  if (Status status = parts.collect_hooks(); !status.ok()) return status;
  if (Status status = parts.compose(); !status.ok()) return status;
  parts.follow_mux_signals();
  return PreparedServer(std::move(server.parts_));
}

Result<int> PreparedServer::run(PreparedServer server) {
  ServerParts& parts = *server.parts_;
  const ServerScope scope(parts.context->slot());
  if (Status status = parts.start_serving(); !status.ok()) {
    parts.take_down();
    return status;
  }
  parts.start_hooks_with_store();
  parts.stop.wait();
  (void)service_manager().notify("STOPPING=1\n");
  const ShutdownDeadline deadline(parts.shutdown_limit());
  Status drained = parts.drain();
  parts.take_down();
  app_log().info("[graceful-termination] apiserver is exiting");
  const int code = drained.ok() ? 0 : 1;
  // After calls of plugins were given up, their threads still use the objects that would be destroyed now.
  if (timed_out_calls() > 0) {
    flush_logs();
    std::_Exit(code);
  }
  return code;
}

}  // namespace backplane
