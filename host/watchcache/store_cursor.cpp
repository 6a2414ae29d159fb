#include "watchcache/store_cursor.hpp"

#include <optional>

#include "watchcache/cache_metrics.hpp"

namespace backplane {
namespace {

constexpr std::size_t kBatch = 256;  // objects per batch

class StoreCursor final : public ObjectCursor {
 public:
  using Batch = std::span<const ObjectEntry* const>;
  StoreCursor(std::shared_ptr<PrefixCache> cache, Selection selection, RangeRequest request, RangeResult first, Status gone)
      : cache_(std::move(cache)),
        selection_(std::move(selection)),
        start_(request.start),
        request_(std::move(request)),
        page_(std::move(first)),
        gone_(std::move(gone)) {}

  Task<Result<Batch>> next() override {
    entries_.clear();
    batch_.clear();
    while (entries_.empty() && !ended_) {
      if (selection_.abandoned()) co_return abandoned_list();
      if (!page_) {
        auto reading = cache_->store().storage.range(request_);
        auto page = co_await std::move(reading);
        if (!page.ok()) co_return page.status().reason() == Reason::kExpired ? gone_ : std::move(page.status());
        page_ = std::move(*page);
      }
      Status taken = take();
      if (!taken.ok()) co_return taken;
    }
    for (const ObjectRef& entry : entries_) batch_.push_back(entry.get());
    co_return Batch(batch_);
  }

  // The pages are read from the store again, which reports an error if the revision has been compacted.
  bool rewind() override {
    request_.start = start_;
    page_.reset();
    at_ = 0;
    ended_ = false;
    return true;
  }

 private:
  // Makes entries of the next objects in the page; releases the page after its last object.  Errors: an object cannot be read.
  Status take() {
    const std::size_t began = at_, had = entries_.size();
    for (; at_ < page_->items.size() && entries_.size() < kBatch; ++at_) {
      if (page_->items[at_].unreadable) continue;
      ObjectRef entry = cache_->make_entry(page_->items[at_]);
      if (selection_.selected(*entry)) entries_.push_back(std::move(entry));
    }
    cache_metrics::read_from_store(cache_->config().resource, at_ - began, entries_.size() - had);
    if (at_ < page_->items.size()) return {};
    ended_ = !page_->more || page_->items.empty();
    if (!ended_) request_.start = page_->items.back().key + '\0';
    page_.reset();
    at_ = 0;
    return {};
  }

  const std::shared_ptr<PrefixCache> cache_;
  const Selection selection_;
  const std::string start_;
  RangeRequest request_;  // the request of the current page; if page_ is empty, of the next page
  std::optional<RangeResult> page_;
  const Status gone_;
  std::size_t at_ = 0;  // the index of the next object in the page
  bool ended_ = false;
  std::vector<ObjectRef> entries_;
  std::vector<const ObjectEntry*> batch_;
};

}  // namespace

Status abandoned_list() { return timeout("the client of the list has gone", 0); }

std::unique_ptr<ObjectCursor> make_store_cursor(std::shared_ptr<PrefixCache> cache, Selection selection, RangeRequest request,
                                                RangeResult first, Status gone) {
  return std::make_unique<StoreCursor>(std::move(cache), std::move(selection), std::move(request), std::move(first), std::move(gone));
}

}  // namespace backplane
