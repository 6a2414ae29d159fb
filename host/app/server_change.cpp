// One plugin of the running server, replaced by another build or withdrawn: staged and validated beside the tables that serve, published in
// one go, and the former generation drained in the background.
#include "app/log.hpp"
#include "app/server_parts.hpp"

namespace backplane {
namespace {

// The post-start hooks of a plugin that comes while the server runs.
constexpr std::chrono::seconds kHooksLimit{60};

}  // namespace

Status ServerParts::replace_plugin(const std::string& name, const std::string& file) {
  const std::lock_guard lock(changing_plugins);
  auto staged = plugins->stage_replacement(name, file);
  return staged.ok() ? change_plugin(std::move(*staged)) : std::move(staged.status());
}

Status ServerParts::withdraw_plugin(const std::string& name) {
  const std::lock_guard lock(changing_plugins);
  auto staged = plugins->stage_withdrawal(name);
  return staged.ok() ? change_plugin(std::move(*staged)) : std::move(staged.status());
}

Status ServerParts::change_plugin(PluginChange change) {
  const std::string name = change.former->name();
  const auto former_rows = plugins->rows();
  const auto refuse = [&](Status status) {
    app_log().error("a plugin was not changed plugin={} error={:?}", name, status.message());
    plugins->give_up(std::move(change));
    return status;
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
    const TargetRef former = change.former->target();
    hooks.replace(name, former->post_start_hooks, former->pre_shutdown_hooks);
    (void)publish_scheme_and_routes(*former_rows);
    return refuse(std::move(status));
  }
  publish(std::move(*tables));
  services.equivalents.set(name, next ? next->groups : std::vector<APIGroupInfo>());
  stores.close_retired();
  plugins->enter(std::move(change));
  // It may have been changed while the tables were made.
  return publish_authorization();
}

}  // namespace backplane
