#include "app/server.hpp"

#include <algorithm>
#include <cstdlib>

#include "app/flag_plugins.hpp"
#include "app/health_checks.hpp"
#include "app/log.hpp"
#include "app/server_parts.hpp"
#include "app/stop_deadline.hpp"
#include "base/cpu_limit.hpp"
#include "endpoints/request_series.hpp"
#include "security/users.hpp"

namespace backplane {
namespace {

// klog.Fatal's exit code.
constexpr int kFatalExit = 255;

// A server that has not finished its start would serve half of what it promises.  What was acknowledged is on the disk.
void die(std::string_view why) {
  app_log().critical("{}", why);
  flush_logs();
  std::_Exit(kFatalExit);
}

}  // namespace

ServerParts::ServerParts(std::unique_ptr<const MetricRegistry> metric_values_in, Config config_in, StopEvent& stop_in)
    : metric_values(std::move(metric_values_in)),
      config(std::move(config_in)),
      stop(stop_in),
      loops(usable_cores()),
      pump("cache"),
      background("background"),
      stop_hooks("StopPlugins"),
      in_flight(options().generic.max_requests_inflight, options().generic.max_mutating_requests_inflight),
      loopback_authentication(loopback_user()),
      health(options().generic.livez_grace_period),
      hooks(die, [this](const PostStartHookEntry& hook) { return needs(hook); }) {}

ServerParts::~ServerParts() {
  take_down();
  // They are of the plugins', which go before the services.
  services.authorizer.withdraw();
  services.tokens.withdraw();
  facilities.routing_ends();
}

// As upstream, where every hook's failure ends the process: its own, and those of plugins that must run.
bool ServerParts::needs(const PostStartHookEntry& hook) const {
  const auto& required = options().backplane.require_plugins;
  return hook.registrant == kTheHost || is_upstream_hook(hook.name) || plugins_of_flags(options().flags).contains(hook.registrant) ||
         std::find(required.begin(), required.end(), hook.registrant) != required.end();
}

void ServerPartsDeleter::operator()(ServerParts* parts) const noexcept { delete parts; }

Result<Server> Server::create(Config config, StopEvent& stop) {
  auto metric_values = std::make_unique<const MetricRegistry>();
  const MetricScope counting(metric_values->slot());
  begin_request_series();
  ServerPartsPtr parts(new ServerParts(std::move(metric_values), std::move(config), stop));
  // The port before the store: that another server has it is found out before anything is opened that it has.
  if (Status status = parts->take_data_dir(); !status.ok()) return status;
  if (Status status = parts->bind_and_open(); !status.ok()) return status;
  parts->make_router();
  if (Status status = parts->load(); !status.ok()) return status;
  if (Status status = parts->check_offers(); !status.ok()) return status;
  if (Status status = parts->check_admission_configuration(); !status.ok()) return status;
  auto tables = parts->make_tables(*parts->plugins->rows());
  if (!tables.ok()) return std::move(tables.status());
  parts->publish(std::move(*tables));
  parts->report_admission(*parts->plugins->rows());
  if (Status status = parts->open_storage(); !status.ok()) return status;
  parts->build_chains();
  return Server(std::move(parts));
}

Result<PreparedServer> Server::prepare_run(Server server) {
  ServerParts& parts = *server.parts_;
  const MetricScope counting(parts.metric_values->slot());
  if (Status status = parts.collect_hooks(); !status.ok()) return status;
  if (Status status = parts.compose(); !status.ok()) return status;
  parts.follow_mux_signals();
  return PreparedServer(std::move(server.parts_));
}

Result<int> PreparedServer::run(PreparedServer server) {
  ServerParts& parts = *server.parts_;
  const MetricScope counting(parts.metric_values->slot());
  if (Status status = parts.start_serving(); !status.ok()) {
    parts.take_down();
    return status;
  }
  parts.start_hooks_with_store();
  parts.stop.wait();
  const ShutdownDeadline deadline(parts.shutdown_limit());
  Status drained = parts.drain();
  parts.take_down();
  app_log().info("[graceful-termination] apiserver is exiting");
  return drained.ok() ? 0 : 1;
}

}  // namespace backplane
