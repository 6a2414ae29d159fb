// Replaces, withdraws or adds one plugin of the running server, together with the plugins that depend on it. The new generations are staged
// and validated while the former ones serve. Then the tables are published, and the former generations are drained in the background.
#include "app/log.hpp"
#include "app/server_parts.hpp"

namespace backplane {
namespace {

// The time limit of the post-start hooks of a build that starts while the server runs.
constexpr std::chrono::seconds kHooksLimit{60};

// Ends the watches on the caches that the published stores of `change` have replaced. The stores of retained groups have no hold.
void end_replaced(StoreEnvironment& stores, const PluginChange& change) {
  for (const auto& part : change.parts) {
    if (part.next) stores.end_replaced(part.next->hold());
  }
  stores.end_replaced(nullptr);
}

}  // namespace

Status ServerParts::replace_plugin(const std::string& name, const std::string& file) {
  return act({PluginAction::kReload, name, file}).status();
}

Status ServerParts::withdraw_plugin(const std::string& name) { return act({PluginAction::kDisable, name, {}}).status(); }

// For each plugin of a change, replaces the hooks of the server by those of `generation`; null: the plugin has none.
void ServerParts::use_hooks(const PluginChange& change, GenerationRef PluginChange::Part::*generation) {
  static const std::vector<PostStartHookEntry> kNoneAtStart;
  static const std::vector<PreShutdownHookEntry> kNoneAtEnd;
  for (const auto& part : change.parts) {
    const TargetRef target = part.*generation ? (part.*generation)->target() : nullptr;
    hooks.replace(part.name, target ? target->post_start_hooks : kNoneAtStart, target ? target->pre_shutdown_hooks : kNoneAtEnd);
  }
}

void ServerParts::use_equivalents(const PluginChange& change, GenerationRef PluginChange::Part::*generation) {
  for (const auto& part : change.parts) {
    const TargetRef target = part.*generation ? (part.*generation)->target() : nullptr;
    services.equivalents.set(part.name, target ? target->groups : std::vector<APIGroupInfo>());
  }
}

// Plugins that do not run after `change` and may offer admission plugins.
std::vector<std::string> ServerParts::idle_after(const PluginChange& change) const {
  auto names = idle_plugins();
  for (const auto& part : change.parts) {
    std::erase(names, part.name);
    if (!part.next) names.push_back(part.name);
  }
  return names;
}

// The admission configuration is read anew. Only the generations that the change adds make admission plugins from it; others keep theirs.
Result<ServerTables> ServerParts::tables_of(const PluginChange& change) {
  auto configuration = read_admission_file(*change.rows, idle_after(change));
  if (!configuration.ok()) return std::move(configuration.status());
  return make_tables(*change.rows, std::move(*configuration));
}

Status ServerParts::change_plugin(PluginChange change) {
  const auto former_rows = plugins->rows();
  const auto former_configuration = admission_configuration;
  const auto refuse = [&](Status status) {
    app_log().error("plugin not changed plugin={} error={:?}", change.name, status.message());
    plugins->abandon_change(std::move(change));
    return status;
  };
  // Restores the former tables after the routes could not be published, or the hooks of an added plugin have failed.
  const auto rollback = [&] {
    use_hooks(change, &PluginChange::Part::former);
    use_equivalents(change, &PluginChange::Part::former);
    if (Status status = publish_scheme_and_routes(*former_rows); !status.ok()) app_log().error("the former routes: {}", status.message());
    if (auto tables = make_tables(*former_rows, former_configuration); tables.ok()) publish(std::move(*tables));
  };
  if (signals.shutdown_initiated.fired()) return refuse(service_unavailable("the server is shutting down"));
  if (Status status = plugins->commit(change, kHooksLimit); !status.ok()) return refuse(std::move(status));
  auto tables = tables_of(change);
  if (!tables.ok()) return refuse(std::move(tables.status()));
  use_hooks(change, &PluginChange::Part::next);
  // The kinds of a plugin are never served without its admission plugins and authorizers: what it adds to the tables is published before
  // its routes, and what it removes from them after its routes.
  const bool adds = change.of_name().next != nullptr;
  if (adds) {
    use_scheme(change.rows->scheme);
    publish(std::move(*tables));
  }
  if (Status status = publish_scheme_and_routes(*change.rows); !status.ok()) {
    tables = internal_error("");
    rollback();
    return refuse(std::move(status));
  }
  if (!adds) publish(std::move(*tables));
  use_equivalents(change, &PluginChange::Part::next);
  if (change.is_addition()) {
    if (Status status = change.of_name().next->activate(kHooksLimit); !status.ok()) {
      rollback();
      return refuse(std::move(status));
    }
  }
  end_replaced(stores, change);
  plugins->enter(std::move(change));
  store_groups();
  // Another change may have been published while the tables were built.
  return publish_authorization();
}

}  // namespace backplane
