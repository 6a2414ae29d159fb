// The groups of plugins that do not run: read from the store at startup, served, kept up to date, and forgotten on request.
#include <algorithm>

#include "app/log.hpp"
#include "app/server_parts.hpp"
#include "backplane/points/storage_feed.hpp"
#include "base/origin_executor.hpp"
#include "storage/object_keys.hpp"

namespace backplane {
namespace {

// The number of objects in all `stores` whose keys begin with `prefix`.
Task<Result<std::int64_t>> count_objects(std::vector<StorageBackend*> stores, std::string prefix) {
  std::int64_t count = 0;
  for (StorageBackend* store : stores) {
    RangeRequest request;
    request.start = prefix;
    request.end = prefix_end(prefix);
    request.count_only = true;
    auto counting = store->range(std::move(request));
    auto found = co_await std::move(counting);
    if (!found.ok()) co_return std::move(found.status());
    count += found->count;
  }
  co_return count;
}

}  // namespace

std::vector<TargetRef> ServerParts::retained_targets(const PluginRows& rows) {
  const auto is_served = [&](const GroupVersion& version) {
    for (const TargetRef& delegate : rows.delegates) {
      for (const APIGroupInfo& group : delegate->groups) {
        if (group.group == version.group && group.storages.contains(version.version)) return true;
      }
    }
    const auto published = router->group_versions();
    return std::any_of(published.begin(), published.end(),
                       [&](const GroupVersionInfo& each) { return each.published && !each.forwarded && each.group_version == version; });
  };
  return plugin_groups.targets(
      rows, [this](const PluginSnapshot& snapshot) { return plugins->absence_of(snapshot); }, is_served);
}

// The post-start hook plugin-groups: the server is ready when the groups of absent plugins are served.
Task<Status> ServerParts::retain_groups() {
  auto reading = plugin_groups.read(main_store());
  auto read = co_await std::move(reading);
  if (!read.ok()) app_log().warn("the stored groups of plugins cannot be read error={:?}", read.status().message());
  if (!plugin_groups.absent_from(*plugins->rows()).empty()) {
    auto refreshing = refresh_groups();
    co_await std::move(refreshing);
  }
  store_groups();
  // If the store reports each commit at once, no other server writes to it.
  if (!main_store().progress_is_immediate()) {
    tasks.spawn(background, "following the groups of plugins",
                plugin_groups.follow(main_store(), stop_hooks, [this] { return refresh_groups(); }));
  }
  co_return Status();
}

// The groups of the running plugins replace the stored ones.
void ServerParts::store_groups() {
  auto puts = plugin_groups.remember(plugins->snapshots());
  if (!puts.empty()) tasks.spawn(background, "storing the groups of plugins", write_groups(std::move(puts)));
}

Task<void> ServerParts::write_groups(std::vector<Put> puts) {
  auto writing = PluginGroups::write(main_store(), std::move(puts));
  const Status ignored = co_await std::move(writing);  // logged
}

Task<void> ServerParts::refresh_groups() {
  const OriginExecutor origin;
  co_await resume_on(changes);
  if (!signals.shutdown_initiated.fired()) {
    const std::lock_guard lock(changing_plugins);
    if (Status status = publish_scheme_and_routes(*plugins->rows()); !status.ok()) {
      app_log().error("the groups of absent plugins are not served error={:?}", status.message());
    } else {
      stores.end_replaced(nullptr);
    }
    show_plugins();
  }
  co_await origin;
}

Result<PluginActed> ServerParts::forget_plugin(const PluginRequest& request) {
  const auto snapshot = plugin_groups.find(request.name);
  if (!snapshot) return not_found("", "plugin", request.name);
  const std::string& plugin = snapshot->plugin;
  const auto status = plugins->status_of(plugin);
  if (status && status->runs()) {
    return Status(Reason::kConflict, "plugin " + backplane::quoted(plugin) + " runs: disable it first");
  }
  std::vector<StorageBackend*> all;
  for (const StoreParts& store : all_stores) all.push_back(store.storage.get());
  for (const KindSnapshot& kind : snapshot->kinds) {
    const auto count = run_on(background, count_objects(all, std::string(kObjectKeyPrefix) + kind.storage_prefix + "/"));
    if (!count.ok()) return count.status();
    if (*count == 0 || request.force) continue;
    return Status(Reason::kConflict, "plugin " + backplane::quoted(plugin) + " has " + std::to_string(*count) + " objects of " +
                                         kind.resource + "." + kind.kind.group +
                                         " left: delete them first, or leave them in the store with --force");
  }
  PluginActed acted;
  acted.name = plugin;
  acted.version = snapshot->version;
  acted.message = "plugin " + plugin + (request.dry_run ? " can be" : " is") + " forgotten: its groups are not served any more";
  if (request.dry_run) return acted;
  if (Status done = run_on(background, plugin_groups.forget(main_store(), plugin)); !done.ok()) return done;
  if (Status published = publish_scheme_and_routes(*plugins->rows()); !published.ok()) return published;
  stores.end_replaced(nullptr);
  show_plugins();
  return acted;
}

}  // namespace backplane
