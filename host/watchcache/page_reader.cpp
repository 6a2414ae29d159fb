#include "watchcache/page_reader.hpp"

#include <algorithm>

#include "backplane/points/storage_feed.hpp"
#include "base/caught.hpp"
#include "watchcache/log.hpp"

namespace backplane {
namespace {

// The number of objects for the next page, from the average size of `items`.  The next objects may be larger, so a page has at most twice
// as many objects as the page `before`.
std::int64_t fitting(const std::vector<KeyValue>& items, std::int64_t before, std::int64_t most) {
  std::size_t bytes = 1;
  for (const KeyValue& item : items) bytes += item.key.size() + item.value.size();
  const auto fit = static_cast<std::int64_t>(PageReader::kPageBytes * items.size() / bytes);
  return std::clamp(std::min(fit, 2 * before), PageReader::kFirstPage, most);
}

}  // namespace

PageReader::PageReader(std::shared_ptr<FollowedStore> store, std::string prefix) : store_(std::move(store)) {
  request_.end = prefix_end(prefix);
  request_.start = std::move(prefix);
  request_.limit = kFirstPage;
  request_.skip_count = true;
  ask();
}

void PageReader::ask() {
  Promise<Page> page;
  next_page_ = page;
  if (!store_->tasks.spawn(store_->executor, "read a page", read(store_, request_, page))) {
    page.set(service_unavailable("the caches are stopping"));
  }
}

Task<void> PageReader::read(std::shared_ptr<FollowedStore> store, RangeRequest request, Promise<Page> page) {
  Page result;
  try {
    auto reading = store->storage.stored_range(std::move(request));
    result = co_await std::move(reading);
  } catch (...) {
    // The text of the exception is logged. Clients do not get it: a load that fails with 503 is reported to them as 429.
    const Caught bug = caught();
    watchcache_log().error("reading a page of the store failed error={}{}", bug.what, bug.stack);
    result = service_unavailable("the store failed: " + bug.what);
  }
  page.set(std::move(result));
}

Task<PageReader::Page> PageReader::next() {
  Promise<Page> waited = *next_page_;
  Page page = co_await waited.future();
  next_page_.reset();
  if (!page.ok() && request_.limit > kFirstPage) {
    // The page may have been too large for one response. From here on pages have at most half of its limit.
    most_ = std::max(kFirstPage, request_.limit / 2);
    request_.limit = kFirstPage;
    ask();
    waited = *next_page_;
    page = co_await waited.future();
    next_page_.reset();
  }
  if (!page.ok()) co_return page;
  // RangeResult::revision is the current revision of the store. The items of later pages are read at the revision of the first page.
  if (request_.revision == 0) request_.revision = page->revision;
  page->revision = request_.revision;
  if (!page->more || page->items.empty()) co_return page;
  request_.start = page->items.back().key + '\0';
  request_.limit = fitting(page->items, request_.limit, most_);
  ask();
  co_return page;
}

}  // namespace backplane
