#include "app/plugin_groups.hpp"

#include <algorithm>
#include <set>

#include "app/log.hpp"
#include "backplane/points/storage_feed.hpp"
#include "storage/object_keys.hpp"

namespace backplane {
namespace {

const std::string kPrefix = std::string(kObjectKeyPrefix) + "plugins.backplane.dev/groups/";
// The pause between two attempts to follow the store.
constexpr std::chrono::seconds kPause{1};

std::string plugin_of(const std::string& key) { return key.substr(kPrefix.size()); }

// The watch that is open. cancel() ends it when the server stops.
struct CurrentWatch {
  std::mutex mutex;
  std::shared_ptr<StorageWatch> watch;
  void set(std::shared_ptr<StorageWatch> next) {
    const std::lock_guard lock(mutex);
    watch = std::move(next);
  }
  void cancel() {
    std::unique_lock lock(mutex);
    const std::shared_ptr<StorageWatch> open = watch;
    lock.unlock();  // the reader of the watch may resume inside cancel()
    if (open) open->cancel();
  }
};

std::set<std::string> running_in(const PluginRows& rows) {
  std::set<std::string> out;
  for (const TargetRef& delegate : rows.delegates) out.insert(delegate->name);
  return out;
}

}  // namespace

bool PluginGroups::take(const std::string& key, std::string_view text) {
  const std::string plugin = plugin_of(key);
  const auto before = known_.find(plugin);
  if (before != known_.end() && before->second.text == text) return false;
  auto snapshot = snapshot_from_json(text);
  if (!snapshot.ok() || snapshot->plugin != plugin) {
    app_log().error("the stored groups of a plugin cannot be read key={}", key);
    return false;
  }
  known_[plugin] = {std::string(text), std::make_shared<const PluginSnapshot>(std::move(*snapshot))};
  ++changes_;
  return true;
}

bool PluginGroups::drop(const std::string& key) {
  const bool dropped = known_.erase(plugin_of(key)) > 0;
  changes_ += dropped ? 1 : 0;
  return dropped;
}

std::size_t PluginGroups::changes() const {
  const std::lock_guard lock(mutex_);
  return changes_;
}

Task<Result<Revision>> PluginGroups::read(StorageBackend& store) {
  RangeRequest request;
  request.start = kPrefix;
  request.end = prefix_end(kPrefix);
  auto reading = store.range(std::move(request));
  auto found = co_await std::move(reading);
  if (!found.ok()) co_return std::move(found.status());
  const std::lock_guard lock(mutex_);
  std::set<std::string> there;
  for (const KeyValue& item : found->items) {
    there.insert(plugin_of(item.key));
    (void)take(item.key, item.value.view());
  }
  changes_ += std::erase_if(known_, [&](const auto& each) { return !there.contains(each.first); });
  co_return found->revision;
}

std::vector<Put> PluginGroups::remember(const std::vector<PluginSnapshot>& running) {
  std::vector<Put> puts;
  const std::lock_guard lock(mutex_);
  for (const PluginSnapshot& snapshot : running) {
    std::string text = snapshot_to_json(snapshot);
    const std::string key = kPrefix + snapshot.plugin;
    if (take(key, text)) puts.push_back({key, SharedBytes(std::move(text))});
  }
  return puts;
}

// One transaction for each plugin: all of them may be larger than a store accepts at once.
Task<Status> PluginGroups::write(StorageBackend& store, std::vector<Put> puts) {
  Status first;
  for (Put& put : puts) {
    TxnRequest request;
    const std::string key = put.key;
    request.puts.push_back(std::move(put));
    auto writing = store.txn(std::move(request));
    auto written = co_await std::move(writing);
    if (written.ok()) continue;
    app_log().warn("the groups of a plugin could not be stored: without the plugin they will not be served key={} error={:?}", key,
                   written.status().message());
    if (first.ok()) first = std::move(written.status());
  }
  co_return first;
}

void PluginGroups::apply(const EventBatch& batch) {
  const std::lock_guard lock(mutex_);
  for (const StorageEvent& event : batch.events) {
    if (event.type == StorageEvent::Type::kPut) {
      (void)take(event.kv.key, event.kv.value.view());
    } else {
      (void)drop(event.kv.key);
    }
  }
}

Task<void> PluginGroups::follow(StorageBackend& store, Signal& stop, std::function<Task<void>()> changed) {
  const auto current = std::make_shared<CurrentWatch>();
  stop.on_fire([current] { current->cancel(); });
  Sleeper sleeper(stop);
  std::size_t seen = changes();
  while (!stop.fired()) {
    auto reading = read(store);
    auto revision = co_await std::move(reading);
    if (revision.ok()) {
      auto opened = store.watch(kPrefix, *revision);
      std::shared_ptr<StorageWatch> watch;
      if (opened.ok()) watch = std::move(*opened);
      current->set(watch);
      while (!stop.fired()) {
        if (const std::size_t now = changes(); now != seen) {
          seen = now;
          co_await changed();
        }
        if (!watch) break;
        auto waiting = watch->next();
        auto batch = co_await std::move(waiting);
        if (!batch.ok()) break;
        apply(*batch);
      }
      current->set(nullptr);
    }
    const bool on = co_await sleeper.sleep(kPause);
    if (!on) co_return;
  }
}

Task<Status> PluginGroups::forget(StorageBackend& store, std::string plugin) {
  TxnRequest request;
  request.removes.push_back(kPrefix + plugin);
  auto writing = store.txn(std::move(request));
  auto written = co_await std::move(writing);
  if (!written.ok()) co_return std::move(written.status());
  const std::lock_guard lock(mutex_);
  known_.erase(plugin);
  co_return Status();
}

std::shared_ptr<const PluginSnapshot> PluginGroups::find(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto found = known_.find(name);
  if (found != known_.end()) return found->second.snapshot;
  std::shared_ptr<const PluginSnapshot> only;
  for (const auto& [plugin, known] : known_) {
    if (!plugin.ends_with("/" + name)) continue;
    if (only) return nullptr;
    only = known.snapshot;
  }
  return only;
}

std::vector<std::shared_ptr<const PluginSnapshot>> PluginGroups::absent_from(const PluginRows& rows) const {
  std::vector<std::shared_ptr<const PluginSnapshot>> out;
  const auto running = running_in(rows);
  const std::lock_guard lock(mutex_);
  for (const auto& [plugin, known] : known_) {
    if (!running.contains(plugin)) out.push_back(known.snapshot);
  }
  return out;
}

std::vector<TargetRef> PluginGroups::targets(const PluginRows& rows, const AbsenceOf& absence_of, const IsServed& is_served) {
  std::map<std::string, Made> made;
  std::vector<TargetRef> out;
  std::set<std::string> taken;  // group versions of the absent plugins that precede in the loop
  const IsServed served = [&](const GroupVersion& version) { return taken.contains(version.to_string()) || is_served(version); };
  for (const auto& snapshot : absent_from(rows)) {
    Made& next = made[snapshot->plugin];
    next = {snapshot, absence_of(*snapshot), nullptr};
    const auto before = made_.find(snapshot->plugin);
    if (before != made_.end() && before->second.snapshot == snapshot && before->second.absence == next.absence) {
      next.target = before->second.target;
    } else {
      next.target = make_retained_target(*snapshot, next.absence, stores_, served);
      app_log().warn("the groups of an absent plugin can be read and deleted only: {}", next.absence.text());
    }
    if (!next.target) continue;
    for (const KindSnapshot& kind : snapshot->kinds) taken.insert(kind.kind.group_version().to_string());
    out.push_back(next.target);
  }
  made_ = std::move(made);
  return out;
}

}  // namespace backplane
