// The plugin `controllers`: controllers of kube-controller-manager for servers that run without one (--controllers).
#include "backplane/plugin.hpp"

#include "frame/leadership.hpp"
#include "frame/runner.hpp"
#include "frame/selection.hpp"
#include "table.hpp"

namespace backplane::controllers {
namespace {

bool has_shared_store(const Host& host) { return !host.flag("etcd-servers").value_or("").empty(); }

// Returns true if the command line sets the flag `name`; for an empty name, if it sets any flag.
bool is_set(const Host& host, const std::string& name) { return host.flag("changed." + name) == std::optional<std::string>("true"); }

// A server that is started without any flag is a single server and runs all controllers; a server with flags belongs to a configured
// cluster, which may have a kube-controller-manager.
std::string selected_controllers(const Host& host) {
  if (is_set(host, "controllers")) return host.flag("controllers").value_or("");
  return is_set(host, "") ? "" : "*";
}

class ControllersPlugin final : public Plugin {
  Status provision(Host& host) override {
    auto selection = Selection::parse(selected_controllers(host), controller_table());
    if (!selection.ok()) return std::move(selection).status();
    for (const std::string& name : selection->absent()) {
      host.logger().warn("--controllers: only kube-controller-manager has this controller name=" + name);
    }
    std::vector<ControllerRow> rows;
    for (const ControllerRow& row : controller_table()) {
      if (selection->enabled(row)) rows.push_back(row);
    }
    if (!rows.empty()) return add_hooks(host, std::move(rows));
    if (!is_set(host, "controllers") && !has_shared_store(host)) host.logger().info("no controllers run here; --controllers=* starts them");
    return {};
  }

  static Status add_hooks(Host& host, std::vector<ControllerRow> rows) {
    const auto changes = std::make_shared<GroupChanges>();
    host.on_group_versions_changed([changes](const GroupVersionsChange&) { changes->notify(); });
    const auto runner = std::make_shared<Runner>(host, std::move(rows), changes);
    const auto leadership = std::make_shared<std::shared_ptr<Leadership>>();
    Status status = host.add_pre_shutdown_hook("stop-controllers", [leadership] { return resign(*leadership); });
    if (!status.ok()) return status;
    return host.add_post_start_hook("start-controllers", [&host, runner, leadership](PostStartHookContext) {
      *leadership = std::make_shared<Leadership>(
          host, has_shared_store(host), Leadership::Callbacks{[runner] { runner->begin_term(); }, [runner] { runner->end_term(); }});
      return start(host, *leadership);
    });
  }

  static Task<Status> start(Host& host, std::shared_ptr<Leadership> leadership) {
    host.spawn("controllers", leadership->run());
    co_return Status();
  }

  static Task<Status> resign(std::shared_ptr<Leadership> leadership) {
    if (leadership == nullptr) co_return Status();
    auto resigning = leadership->resign();
    co_return co_await std::move(resigning);
  }
};

}  // namespace
}  // namespace backplane::controllers

BACKPLANE_PLUGIN(backplane::controllers::ControllersPlugin)
