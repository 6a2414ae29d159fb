// Replaces, withdraws or adds one plugin of the running server: stages and validates it alongside the serving tables, publishes all
// tables in one step, and drains the former generation in the background.
#include "app/log.hpp"
#include "app/server_parts.hpp"

namespace backplane {
namespace {

// The post-start hooks of a plugin that is added while the server runs.
constexpr std::chrono::seconds kHooksLimit{60};

}  // namespace

Status ServerParts::replace_plugin(const std::string& name, const std::string& file) {
  return act({PluginAction::kReload, name, file}).status();
}

Status ServerParts::withdraw_plugin(const std::string& name) { return act({PluginAction::kDisable, name, {}}).status(); }

Status ServerParts::change_plugin(PluginChange change) {
  const std::string name = change.name;
  const auto former_rows = plugins->rows();
  const auto refuse = [&](Status status) {
    app_log().error("plugin not changed plugin={} error={:?}", name, status.message());
    plugins->give_up(std::move(change));
    return status;
  };
  // An addition whose hooks have failed.
  const auto take_back = [&] {
    hooks.replace(name, {}, {});
    services.equivalents.set(name, {});
    if (Status status = publish_scheme_and_routes(*former_rows); !status.ok()) app_log().error("the former routes: {}", status.message());
    if (auto tables = make_tables(*former_rows); tables.ok()) publish(std::move(*tables));
  };
  if (signals.shutdown_initiated.fired()) return refuse(service_unavailable("the server is shutting down"));
  if (Status status = plugins->commit(change, kHooksLimit); !status.ok()) return refuse(std::move(status));
  auto tables = make_tables(*change.rows);
  if (!tables.ok()) return refuse(std::move(tables.status()));
  static const std::vector<PostStartHookEntry> kNoneAtStart;
  static const std::vector<PreShutdownHookEntry> kNoneAtEnd;
  const TargetRef next = change.next ? change.next->target() : nullptr;
  hooks.replace(name, next ? next->post_start_hooks : kNoneAtStart, next ? next->pre_shutdown_hooks : kNoneAtEnd);
  if (Status status = publish_scheme_and_routes(*change.rows); !status.ok()) {
    tables = internal_error("");
    const TargetRef former = change.former ? change.former->target() : nullptr;
    hooks.replace(name, former ? former->post_start_hooks : kNoneAtStart, former ? former->pre_shutdown_hooks : kNoneAtEnd);
    (void)publish_scheme_and_routes(*former_rows);
    return refuse(std::move(status));
  }
  publish(std::move(*tables));
  services.equivalents.set(name, next ? next->groups : std::vector<APIGroupInfo>());
  if (!change.former) {
    if (Status status = change.next->activate(kHooksLimit); !status.ok()) {
      take_back();
      return refuse(std::move(status));
    }
  }
  stores.close_retired();
  plugins->enter(std::move(change));
  store_groups();
  // Another change may have been published while the tables were built.
  return publish_authorization();
}

}  // namespace backplane
