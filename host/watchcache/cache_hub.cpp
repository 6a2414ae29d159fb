// The pump: one watch on the store feeds every cache.
#include <random>
#include <unordered_map>

#include "backplane/core/task_set.hpp"
#include "base/caught.hpp"
#include "storage/object_keys.hpp"
#include "watchcache/consistency.hpp"
#include "watchcache/log.hpp"
#include "watchcache/prefix_cache.hpp"

namespace backplane {

ResourceCache::~ResourceCache() = default;
CacheHub::~CacheHub() = default;

namespace {

constexpr std::chrono::seconds kTick{1};                   // the interval of ticks(), and so the precision of bookmarks
constexpr std::chrono::milliseconds kReconnectDelay{200};  // the pause after the store has ended the watch

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>{}(text); }
};

class FollowingHub final : public CacheHub {
 public:
  FollowingHub(ObjectStorage& storage, Executor& executor, CacheOptions options)
      : store_(std::make_shared<FollowedStore>(storage, executor, std::move(options))) {}
  ~FollowingHub() override = default;

  std::shared_ptr<ResourceCache> add(CacheConfig config, bool eager) override;
  void remove(std::string_view prefix) override;
  void retire(std::string_view prefix) override;
  void restore(std::string_view prefix, const std::shared_ptr<ResourceCache>& retired) override;
  Task<Status> start() override;
  Task<void> stop() override;

 private:
  using CacheRef = std::shared_ptr<PrefixCache>;
  struct Slot {
    CacheRef cache;
    bool eager = false;
  };
  using Slots = std::unordered_map<std::string, Slot, TextHash, std::equal_to<>>;

  Status open_watch(Revision after);
  Task<void> pump();
  Task<Status> follow();
  Task<void> reconnect();
  Task<Status> open_again();
  void dispatch(const EventBatch& batch);
  PrefixCache* find(std::string_view key);
  std::vector<CacheRef> all();
  std::vector<CacheRef> eager();
  Task<void> ticks();
  void tick() noexcept;
  Task<void> comparisons();
  Task<void> compare_all();

  const std::shared_ptr<FollowedStore> store_;
  std::mutex mutex_;  // guards the members below
  Slots slots_;
  // Caches that retire() has replaced.  They receive the same events as their successors. Their stores and open watches keep them alive.
  std::vector<std::weak_ptr<PrefixCache>> retired_;
  Promise<bool> pause_;             // ends the pause between two ticks when it is set
  Promise<bool> comparison_pause_;  // ends the pause between two comparisons when it is set
};

std::shared_ptr<ResourceCache> FollowingHub::add(CacheConfig config, bool eager) {
  CacheRef cache;
  {
    std::lock_guard lock(mutex_);
    Slot& slot = slots_[config.prefix];
    if (!slot.cache) slot.cache = std::make_shared<PrefixCache>(store_, std::move(config));
    slot.eager = slot.eager || eager;
    cache = slot.cache;
  }
  if (eager) cache->load_eagerly();
  return cache;
}

void FollowingHub::remove(std::string_view prefix) {
  CacheRef cache;
  {
    std::lock_guard lock(mutex_);
    const auto found = slots_.find(prefix);
    if (found == slots_.end()) return;
    cache = std::move(found->second.cache);
    slots_.erase(found);
  }
  cache->close();
}

void FollowingHub::retire(std::string_view prefix) {
  std::lock_guard lock(mutex_);
  const auto found = slots_.find(prefix);
  if (found == slots_.end()) return;
  retired_.push_back(found->second.cache);
  // Not the last reference: the store that uses the cache still exists.
  slots_.erase(found);
}

void FollowingHub::restore(std::string_view prefix, const std::shared_ptr<ResourceCache>& retired) {
  CacheRef replaced;
  {
    std::lock_guard lock(mutex_);
    const auto slot = slots_.find(prefix);
    const auto found = std::find_if(retired_.begin(), retired_.end(), [&](const auto& each) { return each.lock() == retired; });
    if (slot == slots_.end() || found == retired_.end()) return;
    replaced = std::exchange(slot->second.cache, found->lock());
    retired_.erase(found);
  }
  replaced->close();
}

Status FollowingHub::open_watch(Revision after) {
  auto opened = store_->storage.watch_changes(std::string(kObjectKeyPrefix), after);
  if (!opened.ok()) return std::move(opened.status());
  std::lock_guard lock(mutex_);
  if (store_->stopping.load()) return service_unavailable("the caches are stopping");
  store_->follow(std::move(*opened));
  return {};
}

Task<Status> FollowingHub::start() {
  auto asking = store_->storage.current_revision();
  auto current = co_await std::move(asking);
  if (!current.ok()) co_return std::move(current.status());
  if (auto status = open_watch(*current); !status.ok()) co_return status;
  store_->progress.advance(*current);
  store_->started.store(true);
  if (!store_->tasks.spawn(store_->executor, "watch cache pump", pump())) co_return service_unavailable("the caches are stopping");
  for (auto& cache : eager()) cache->request_load();
  store_->tasks.spawn(store_->executor, "watch cache ticks", ticks());
  if (store_->options.comparison_period.count() > 0) store_->tasks.spawn(store_->executor, "comparisons of caches", comparisons());
  co_return Status{};
}

Task<void> FollowingHub::stop() {
  store_->stopping.store(true);
  {
    std::lock_guard lock(mutex_);
    pause_.set(true);
    comparison_pause_.set(true);
  }
  if (const auto watch = store_->followed_by()) watch->cancel();
  for (auto& cache : all()) cache->close();
  store_->progress.close();
  store_->tasks.close();
  co_await store_->tasks.wait_all();
}

std::vector<FollowingHub::CacheRef> FollowingHub::all() {
  std::vector<CacheRef> caches;
  std::lock_guard lock(mutex_);
  for (auto& [_, slot] : slots_) caches.push_back(slot.cache);
  for (const auto& each : retired_) {
    if (CacheRef cache = each.lock()) caches.push_back(std::move(cache));
  }
  return caches;
}

std::vector<FollowingHub::CacheRef> FollowingHub::eager() {
  std::vector<CacheRef> caches;
  std::lock_guard lock(mutex_);
  for (auto& [_, slot] : slots_) {
    if (slot.eager) caches.push_back(slot.cache);
  }
  return caches;
}

// ---- the pump

Task<void> FollowingHub::pump() {
  while (!store_->stopping.load()) {
    auto following = follow();
    auto ended = co_await std::move(following);
    if (store_->stopping.load()) break;
    watchcache_log().warn("the store ended the watch, loading again error={}", ended.message());
    auto again = reconnect();
    co_await std::move(again);
  }
}

// Dispatches events until the store's watch ends, with or without an error.
Task<Status> FollowingHub::follow() {
  const std::shared_ptr<StorageWatch> watch = store_->followed_by();
  try {
    while (!store_->stopping.load()) {
      auto reading = watch->next();
      auto batch = co_await std::move(reading);
      if (!batch.ok()) co_return std::move(batch.status());
      dispatch(*batch);
    }
  } catch (...) {
    const Caught bug = caught();
    co_return internal_error(bug.what + bug.stack);
  }
  co_return Status();
}

Task<void> FollowingHub::reconnect() {
  while (!store_->stopping.load()) {
    auto pause = sleep_for(kReconnectDelay);
    co_await std::move(pause);
    auto opening = open_again();
    auto opened = co_await std::move(opening);
    if (opened.ok()) co_return;
  }
}

Task<Status> FollowingHub::open_again() {
  try {
    auto asking = store_->storage.current_revision();
    auto current = co_await std::move(asking);
    if (!current.ok()) co_return std::move(current.status());
    if (auto status = open_watch(*current); !status.ok()) co_return status;
    // The caches are invalidated before the progress advances: no reader may get an old state under the new revision.
    for (auto& cache : all()) cache->invalidate(*current);
    store_->progress.advance(*current);
  } catch (...) {
    co_return internal_error(caught().what);
  }
  co_return Status();
}

void FollowingHub::dispatch(const EventBatch& batch) {
  // Few caches change in one batch: a vector is the quickest map.
  std::vector<std::pair<CacheRef, std::vector<const StorageEvent*>>> by_cache;
  {
    std::lock_guard lock(mutex_);
    PrefixCache* last = nullptr;
    std::vector<const StorageEvent*>* events = nullptr;
    for (const auto& event : batch.events) {
      PrefixCache* cache = find(event.kv.key);
      if (cache == nullptr) continue;
      if (cache != last) {
        auto found = std::find_if(by_cache.begin(), by_cache.end(), [&](const auto& each) { return each.first.get() == cache; });
        if (found == by_cache.end()) found = by_cache.insert(by_cache.end(), {cache->shared_from_this(), {}});
        events = &found->second;
        last = cache;
      }
      events->push_back(&event);
    }
    std::erase_if(retired_, [](const auto& each) { return each.expired(); });
    for (const auto& each : retired_) {
      CacheRef old = each.lock();
      std::vector<const StorageEvent*> own;
      for (const auto& event : batch.events) {
        if (old && event.kv.key.starts_with(old->config().prefix)) own.push_back(&event);
      }
      if (!own.empty()) by_cache.emplace_back(std::move(old), std::move(own));
    }
  }
  for (auto& [cache, events] : by_cache) cache->apply(events);
  // The progress advances last: a reader that waits for this revision then reads a cache that includes it.
  if (batch.revision > store_->progress.revision()) store_->progress.advance(batch.revision);
}

// The cache whose prefix is the longest that `key` has; null: none. The caller holds the lock.
PrefixCache* FollowingHub::find(std::string_view key) {
  for (auto slash = key.rfind('/'); slash != std::string_view::npos && slash > 0; slash = key.rfind('/', slash - 1)) {
    const auto found = slots_.find(key.substr(0, slash + 1));
    if (found != slots_.end()) return found->second.cache.get();
  }
  return nullptr;
}

// Once per tick, runs the timers of the caches that are due: bookmarks, the release of snapshots, retries of loads.
Task<void> FollowingHub::ticks() {
  for (;;) {
    Promise<bool> pause;
    {
      std::lock_guard lock(mutex_);
      if (store_->stopping.load()) co_return;
      pause_ = pause;
    }
    auto pausing = within(kTick, pause);
    co_await std::move(pausing);
    tick();
  }
}

void FollowingHub::tick() noexcept {
  try {
    const auto now = EventLog::Clock::now();
    for (auto& cache : store_->alarms.take(now)) cache->tick(now);
  } catch (...) {
    watchcache_log().error("a timer of the caches failed error={}", caught().what);
  }
}

// ---- comparisons

Task<void> FollowingHub::comparisons() {
  std::minstd_rand random(std::random_device{}());
  std::uniform_real_distribution<double> factor(1.0, 1.5);
  for (;;) {
    Promise<bool> pause;
    {
      std::lock_guard lock(mutex_);
      if (store_->stopping.load()) co_return;
      comparison_pause_ = pause;
    }
    const std::chrono::duration<double, std::nano> period = store_->options.comparison_period * factor(random);
    auto pausing = within(std::chrono::duration_cast<std::chrono::nanoseconds>(period), pause);
    co_await std::move(pausing);
    auto comparing = compare_all();
    co_await std::move(comparing);
  }
}

Task<void> FollowingHub::compare_all() {
  try {
    for (const CacheRef& cache : all()) {
      if (store_->stopping.load()) co_return;
      auto comparing = compare_with_store(cache);
      co_await std::move(comparing);
    }
  } catch (...) {
    watchcache_log().error("comparing caches with the store failed error={}", caught().what);
  }
}

}  // namespace

std::unique_ptr<CacheHub> make_cache_hub(ObjectStorage& storage, Executor& executor, CacheOptions options) {
  return std::make_unique<FollowingHub>(storage, executor, std::move(options));
}

}  // namespace backplane
