#include "watchcache/consistency.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backplane/core/metrics.hpp"
#include "backplane/points/storage_feed.hpp"
#include "watchcache/log.hpp"
#include "watchcache/prefix_cache.hpp"

namespace backplane {
namespace {

constexpr std::int64_t kPage = 10'000;  // keys, without their values

void count(const GroupResource& resource, std::string_view status) {
  static Metric& metric =
      Metric::counter("apiserver_storage_consistency_checks_total", "Comparisons of caches with their store, by resource and outcome.",
                      {"group", "resource", "status"});
  metric.add({resource.group, resource.resource, status});
}

struct Difference {
  std::string key;
  Revision cached = 0, stored = 0;  // 0: it is not there
};

// Goes over what the cache shows and what the store holds, both by key, as far as both are at hand.
class Comparison {
 public:
  using Batch = std::span<const ObjectEntry* const>;

  bool needs_cached() const noexcept { return cached_.empty() && !cached_ended_; }
  // The next entries of the cache; none: there are no more.
  void add_cached(Batch batch) noexcept {
    cached_ = batch;
    cached_ended_ = batch.empty();
  }
  // Takes keys off the front of `stored` until one side is used up.
  void take(std::span<const KeyValue>& stored) {
    while (!difference_ && !stored.empty() && !needs_cached()) {
      const KeyValue& item = stored.front();
      const ObjectEntry* const entry = cached_.empty() ? nullptr : cached_.front();
      if (entry == nullptr || item.key < entry->key) {
        difference_ = Difference{item.key, 0, item.mod_revision};
      } else if (entry->key < item.key) {
        difference_ = Difference{entry->key, entry->revision, 0};
      } else if (entry->revision != item.mod_revision) {
        difference_ = Difference{item.key, entry->revision, item.mod_revision};
      } else {
        stored = stored.subspan(1);
        cached_ = cached_.subspan(1);
      }
    }
  }
  // The store has no more.
  void end() {
    if (!difference_ && !cached_.empty()) difference_ = Difference{cached_.front()->key, cached_.front()->revision, 0};
  }
  const std::optional<Difference>& difference() const noexcept { return difference_; }

 private:
  Batch cached_;
  bool cached_ended_ = false;
  std::optional<Difference> difference_;
};

Task<Status> next_cached(ObjectCursor& cursor, Comparison& comparison) {
  auto reading = cursor.next();
  auto batch = co_await std::move(reading);
  if (!batch.ok()) co_return std::move(batch.status());
  comparison.add_cached(*batch);
  co_return Status();
}

Task<Status> compare_page(const std::vector<KeyValue>& items, ObjectCursor& cursor, Comparison& comparison) {
  std::span<const KeyValue> stored(items);
  while (!stored.empty() && !comparison.difference()) {
    Status status;
    if (comparison.needs_cached()) {
      auto reading = next_cached(cursor, comparison);
      status = co_await std::move(reading);
    }
    if (!status.ok()) co_return status;
    comparison.take(stored);
  }
  co_return Status();
}

Task<Status> compare(PrefixCache& cache, ObjectCursor& cursor, Revision revision, Comparison& comparison) {
  RangeRequest request;
  request.start = cache.config().prefix;
  request.end = prefix_end(request.start);
  request.revision = revision;
  request.limit = kPage;
  request.keys_only = true;
  request.skip_count = true;
  for (bool more = true; more && !comparison.difference();) {
    auto reading = cache.store().storage.range(request);
    auto page = co_await std::move(reading);
    if (!page.ok()) co_return std::move(page.status());
    auto comparing = compare_page(page->items, cursor, comparison);
    auto status = co_await std::move(comparing);
    if (!status.ok()) co_return status;
    more = page->more && !page->items.empty();
    if (more) request.start = page->items.back().key + '\0';
  }
  Status status;
  if (comparison.needs_cached()) {
    auto reading = next_cached(cursor, comparison);
    status = co_await std::move(reading);
  }
  comparison.end();
  co_return status;
}

}  // namespace

Task<void> compare_with_store(std::shared_ptr<PrefixCache> cache) {
  if (!cache->ready()) co_return;
  const GroupResource& resource = cache->config().resource;
  CacheScope scope;
  ListOptions options;
  options.resource_version = "0";
  auto listing = cache->list(std::move(scope), std::move(options));
  auto list = co_await std::move(listing);
  // One that holds what cannot be read is not compared, as upstream's is not.
  if (!list.ok() || list->revision == 0) co_return count(resource, "error");
  Comparison comparison;
  auto comparing = compare(*cache, *list->items, list->revision, comparison);
  const Status status = co_await std::move(comparing);
  if (!status.ok()) co_return count(resource, "error");
  count(resource, comparison.difference() ? "failure" : "success");
  if (!comparison.difference()) co_return;
  const Difference& found = *comparison.difference();
  watchcache_log().error("a cache differs from the store and is reloaded (a bug) prefix={} key={} cached={} stored={}",
                         cache->config().prefix, found.key, found.cached, found.stored);
  cache->invalidate(list->revision);
}

}  // namespace backplane
