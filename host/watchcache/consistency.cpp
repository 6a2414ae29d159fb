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

constexpr std::int64_t kPage = 10'000;  // the number of keys in a page; values are not read

void count(const GroupResource& resource, std::string_view status) {
  static Metric& metric =
      Metric::counter("apiserver_storage_consistency_checks_total", "Comparisons of caches with their store, by resource and outcome.",
                      {"group", "resource", "status"});
  metric.add({resource.group, resource.resource, status});
}

struct Difference {
  std::string key;
  Revision cached = 0, stored = 0;  // 0: absent
};

// Walks the keys of the cache and of the store in parallel, without building entries.
class Comparison {
 public:
  explicit Comparison(const ObjectIndex& index) : cursor_(index.cursor({})) {}

  // Compares the next keys of the store, up to the first difference.
  void take(std::span<const KeyValue> stored) {
    for (const KeyValue& item : stored) {
      const KeyAt* const cached = next_cached();
      if (cached == nullptr || item.key < cached->key) {
        difference_ = Difference{item.key, 0, item.mod_revision};
      } else if (cached->key < item.key) {
        difference_ = Difference{cached->key, cached->revision, 0};
      } else if (cached->revision != item.mod_revision) {
        difference_ = Difference{item.key, cached->revision, item.mod_revision};
      }
      if (difference_) return;
      ++at_;
    }
  }
  // The store has no further keys.
  void end() {
    if (difference_) return;
    if (const KeyAt* const cached = next_cached()) difference_ = Difference{cached->key, cached->revision, 0};
  }
  const std::optional<Difference>& difference() const noexcept { return difference_; }

 private:
  // The next key of the cache; null at the end.
  const KeyAt* next_cached() {
    if (at_ == keys_.size()) {
      keys_.clear();
      at_ = 0;
      if (!cursor_.next_keys(keys_)) return nullptr;
    }
    return &keys_[at_];
  }

  ObjectIndex::Cursor cursor_;
  std::vector<KeyAt> keys_;
  std::size_t at_ = 0;
  std::optional<Difference> difference_;
};

Task<Status> compare(PrefixCache& cache, Revision revision, Comparison& comparison) {
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
    comparison.take(page->items);
    more = page->more && !page->items.empty();
    if (more) request.start = page->items.back().key + '\0';
  }
  comparison.end();
  co_return Status();
}

}  // namespace

Task<void> compare_with_store(std::shared_ptr<PrefixCache> cache) {
  if (!cache->ready()) co_return;
  const GroupResource& resource = cache->config().resource;
  const std::optional<View> view = cache->newest();
  // As upstream, a cache with unreadable objects is not compared.
  if (!view || view->revision == 0 || view->snapshot->unreadable) co_return count(resource, "error");
  Comparison comparison(view->snapshot->index);
  auto comparing = compare(*cache, view->revision, comparison);
  const Status status = co_await std::move(comparing);
  if (!status.ok()) co_return count(resource, "error");
  count(resource, comparison.difference() ? "failure" : "success");
  if (!comparison.difference()) co_return;
  const Difference& found = *comparison.difference();
  watchcache_log().error("a cache differs from the store and is reloaded (a bug) prefix={} key={} cached={} stored={}",
                         cache->config().prefix, found.key, found.cached, found.stored);
  cache->invalidate(view->revision);
}

}  // namespace backplane
