// Reads of the cache: GET and LIST with upstream's resourceVersion, limit and continue rules.
#include <charconv>
#include <chrono>

#include "base/yield.hpp"
#include "storage/request_counts.hpp"
#include "watchcache/cache_metrics.hpp"
#include "watchcache/continue_token.hpp"
#include "watchcache/index_scan.hpp"
#include "watchcache/prefix_cache.hpp"
#include "watchcache/store_cursor.hpp"

namespace backplane {

namespace {

constexpr std::string_view kListExpired = "The resourceVersion for the provided list is too old.";
constexpr std::string_view kContinueExpired =
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue "
    "parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token "
    "results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and "
    "now may show up in the list.";
// Page size of reads from the store while a selector fills its page.
constexpr std::int64_t kStorePage = 1000;
// The number of times that a read waits if the cache is invalidated again after each wait.
constexpr int kReadAttempts = 5;

}  // namespace

namespace {

// Counts the objects that a cursor returns, and reports their number and `fetched`, the number of objects read, when it is destroyed.
class CountingCursor final : public ObjectCursor {
 public:
  CountingCursor(std::unique_ptr<ObjectCursor> counted, GroupResource resource, std::size_t fetched)
      : counted_(std::move(counted)), resource_(std::move(resource)), fetched_(fetched) {}
  CountingCursor(const CountingCursor&) = delete;
  CountingCursor& operator=(const CountingCursor&) = delete;
  ~CountingCursor() override { cache_metrics::listed(resource_, fetched_, std::max(returned_, before_)); }

  Task<Result<std::span<const ObjectEntry* const>>> next() override {
    auto reading = counted_->next();
    auto batch = co_await std::move(reading);
    if (batch.ok()) returned_ += batch->size();
    co_return batch;
  }
  bool rewind() override {
    before_ = std::max(before_, std::exchange(returned_, 0));
    return counted_->rewind();
  }

 private:
  const std::unique_ptr<ObjectCursor> counted_;
  const GroupResource resource_;
  const std::size_t fetched_;
  std::size_t returned_ = 0;  // since the last rewind
  std::size_t before_ = 0;    // the largest number returned before a rewind
};

Result<ListPlan> plan_continued(const ListOptions& options, const Selection& selection) {
  auto token = decode_continue(options.continue_token, selection.list_prefix());
  if (!token.ok()) return std::move(token.status());
  if (!options.resource_version.empty() && options.resource_version != "0") {
    return bad_request("specifying resource version is not allowed when using continue");
  }
  ListPlan plan;
  plan.from = std::max(token->start, selection.start());
  plan.limit = std::max<std::int64_t>(options.limit, 0);
  plan.continued = true;
  plan.at = token->revision > 0 ? ListPlan::At::kExact : ListPlan::At::kConsistent;
  plan.revision = std::max<Revision>(token->revision, 0);
  return plan;
}

Result<ListPlan> plan_list(const ListOptions& options, const Selection& selection) {
  if (!options.continue_token.empty()) return plan_continued(options, selection);
  ListPlan plan;
  plan.from = selection.start();
  plan.limit = std::max<std::int64_t>(options.limit, 0);
  if (options.resource_version.empty()) return plan;
  auto revision = parse_resource_version(options.resource_version);
  if (!revision.ok()) return bad_request("invalid resource version: " + revision.status().message());
  plan.revision = *revision;
  // As upstream: before resourceVersionMatch existed, a limit together with a resourceVersion meant Exact.
  const bool exact = options.match == ResourceVersionMatch::kExact ||
                     (options.match == ResourceVersionMatch::kUnset && plan.limit > 0 && plan.revision > 0);
  if (exact) {
    plan.at = ListPlan::At::kExact;
  } else if (plan.revision == 0) {
    plan.at = ListPlan::At::kAny;
    plan.limit = 0;  // as upstream: any state, without paging
  } else {
    plan.at = ListPlan::At::kNotOlderThan;
  }
  return plan;
}

}  // namespace

Result<Revision> parse_resource_version(std::string_view text) {
  if (text.empty()) return Revision{0};
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  std::string_view why;
  if (error == std::errc::result_out_of_range) {
    why = "value out of range";
  } else if (error != std::errc{} || end != text.data() + text.size()) {
    why = "invalid syntax";
  }
  if (!why.empty()) {
    const std::string shown = quoted(text);
    return Status(500, Reason::kNone,
                  "resourceVersion: Invalid value: " + shown + ": strconv.ParseUint: parsing " + shown + ": " + std::string(why));
  }
  constexpr std::uint64_t kMax = std::numeric_limits<Revision>::max();
  return static_cast<Revision>(std::min(value, kMax));
}

// ---- waiting

Task<Status> PrefixCache::wait_for(Revision revision) {
  const ProgressRequests::Waiting asking = store_->requests.wait(store_);
  auto waiting = store_->progress.reached(revision, kReadWait);
  const bool reached = co_await std::move(waiting);
  // The snapshot may be newer than the progress if it was loaded at a later revision.
  const Revision current = this->revision();
  if (!reached && current < revision) co_return too_large_resource_version(revision, current);
  co_return Status{};
}

Task<Status> PrefixCache::wait_current(bool paced) {
  Status status;
  if (!ready()) {
    auto loading = ensure_ready();
    status = co_await std::move(loading);
    if (!status.ok()) co_return status;
  }
  Revision target = store_->storage.committed_revision();
  if (target == 0) {
    const Revision followed = store_->progress.revision();
    const auto begun = std::chrono::steady_clock::now();
    auto asking = paced ? store_->paced.current(store_) : store_->storage.current_revision();
    auto current = co_await std::move(asking);
    // Each read is counted as a request for its resource, even if several reads share one response. A paced read is counted as a list.
    count_request(paced ? "list" : "get", config_.resource, !current.ok(), begun);
    if (!current.ok()) co_return std::move(current.status());
    target = *current;
    status = store_->check_history(followed, target);
    if (!status.ok()) co_return status;
  }
  if (store_->progress.revision() >= target) co_return Status{};
  auto waiting = wait_for(target);
  status = co_await std::move(waiting);
  co_return status;
}

Task<Status> PrefixCache::make_fresh(const ListPlan& plan) {
  auto reading = is_confirmed(plan) ? wait_current(plan.paced) : ensure_ready();
  auto status = co_await std::move(reading);
  if (!status.ok() || plan.at == ListPlan::At::kAny || this->revision() >= plan.revision) co_return status;
  auto waiting = wait_for(plan.revision);
  status = co_await std::move(waiting);
  co_return status;
}

bool PrefixCache::is_confirmed(const ListPlan& plan) const noexcept { return plan.at == ListPlan::At::kConsistent || config_.confirmed; }

std::optional<View> PrefixCache::fresh_now(const ListPlan& plan, Revision committed) const {
  if (is_confirmed(plan) && store_->progress.revision() < committed) return std::nullopt;
  auto view = newest();
  if (view && view->revision < plan.revision) return std::nullopt;
  return view;
}

Task<Result<View>> PrefixCache::fresh(ListPlan plan) {
  for (int attempt = 0; attempt < kReadAttempts; ++attempt) {
    auto freshening = make_fresh(plan);
    auto status = co_await std::move(freshening);
    if (!status.ok()) co_return status;
    // The cache may have been invalidated meanwhile.
    auto view = newest();
    if (view) co_return std::move(*view);
  }
  co_return too_many_requests("storage is (re)initializing", 1);
}

// ---- GET

Task<Result<ObjectRef>> PrefixCache::get(std::string key, std::string resource_version) {
  ListPlan plan;
  plan.paced = false;
  if (!resource_version.empty()) {
    auto revision = parse_resource_version(resource_version);
    // Upstream's store and its cache have different messages.
    if (!revision.ok() && config_.confirmed) co_return bad_request("invalid resource version: " + revision.status().message());
    if (!revision.ok()) co_return std::move(revision.status());
    plan.revision = *revision;
    plan.at = *revision == 0 ? ListPlan::At::kAny : ListPlan::At::kNotOlderThan;
  }
  const bool asks = is_confirmed(plan) && store_->storage.committed_revision() == 0;
  std::optional<View> now;
  if (!asks) {
    now = fresh_now(plan, store_->storage.committed_revision());
  } else if (ready()) {
    const Revision followed = store_->progress.revision();
    const auto begun = std::chrono::steady_clock::now();
    auto asking = store_->storage.current_revision();
    auto current = co_await std::move(asking);
    count_request("get", config_.resource, !current.ok(), begun);
    if (!current.ok()) co_return std::move(current.status());
    Status status = store_->check_history(followed, *current);
    if (!status.ok()) co_return status;
    now = fresh_now(plan, *current);
  }
  if (!now) {
    auto freshening = fresh(std::move(plan));
    auto view = co_await std::move(freshening);
    if (!view.ok()) co_return std::move(view.status());
    now = std::move(*view);
  }
  const Snapshot& snapshot = *now->snapshot;
  if (const Status* why = snapshot.unreadable_at(key)) co_return *why;
  co_return snapshot.index.find(key);
}

// ---- LIST

Task<Result<ListResult>> PrefixCache::list(CacheScope scope, ListOptions options) {
  auto selection = Selection::make(config_, scope, options);
  if (!selection.ok()) co_return std::move(selection.status());
  auto plan = plan_list(options, *selection);
  if (!plan.ok()) co_return std::move(plan.status());
  const bool waits = plan->at == ListPlan::At::kConsistent;
  const auto begun = std::chrono::steady_clock::now();
  auto freshening = fresh(*plan);
  auto newest_view = co_await std::move(freshening);
  if (waits) {
    const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - begun;
    cache_metrics::waited(config_.resource, waited.count(), newest_view.ok());
  }
  if (!newest_view.ok()) co_return std::move(newest_view.status());
  std::optional<View> view = plan->at == ListPlan::At::kExact ? at(plan->revision) : std::optional<View>(std::move(*newest_view));
  if (view) {
    auto paging = page(std::move(*view), std::move(*selection), std::move(*plan));
    auto result = co_await std::move(paging);
    co_return result;
  }
  auto reading = list_from_store(std::move(*selection), std::move(*plan));
  auto result = co_await std::move(reading);
  co_return result;
}

Task<Result<ListResult>> PrefixCache::page(View view, Selection selection, ListPlan plan) {
  const ObjectIndex& index = view.snapshot->index;
  const std::size_t first = index.rank(plan.from);
  const std::size_t total = std::max(index.rank(selection.end()), first) - first;
  ListResult result;
  result.revision = view.revision;
  const auto limit = static_cast<std::size_t>(plan.limit);
  if (limit == 0 || (limit >= total && !selection.selects())) {
    const bool all = !selection.selects();
    result.items = make_cursor(IndexScan(index.cursor_at(first), total, std::move(selection)));
    if (all) {
      cache_metrics::listed(config_.resource, total, total);
    } else {
      result.items = std::make_unique<CountingCursor>(std::move(result.items), config_.resource, total);
    }
    co_return result;
  }
  const bool selects = selection.selects();
  const std::string list_prefix = selection.list_prefix();
  const ObjectEntry* last = nullptr;
  std::shared_ptr<const std::vector<ObjectRef>> last_owner;
  std::size_t left = total;
  if (!selects) {
    auto at_last = index.cursor_at(first + limit - 1);
    last = (selection.transient() ? at_last.next_run_transient(last_owner).entries.front() : *at_last.next()).get();
    left = total - limit;
    result.remaining = static_cast<std::int64_t>(left);
    result.items = make_cursor(IndexScan(index.cursor_at(first), limit, std::move(selection)));
    cache_metrics::listed(config_.resource, limit, limit);
  } else {
    IndexScan scan(index.cursor_at(first), total, std::move(selection));
    IndexScan::Found found;
    while (scan.take(found, limit)) co_await Yield{};
    if (!found.empty()) last = found.back()->get();
    left = scan.left();
    cache_metrics::listed(config_.resource, total - left, found.size());
    result.items = make_cursor(std::move(scan), std::move(found));
  }
  if (left > 0) {
    result.continue_token = encode_continue(std::string(last->key()) + '\0', list_prefix, view.revision);
    pin(view);
  }
  co_return result;
}

namespace {

// The error of a list whose revision the store has compacted.
Status revision_gone(const ListPlan& plan, const Selection& selection) {
  if (!plan.continued) return expired(std::string(kListExpired));
  Status gone = expired(std::string(kContinueExpired));
  gone.set_continue_token(encode_continue(plan.from, selection.list_prefix(), -1));
  return gone;
}

}  // namespace

// Lists a revision whose snapshot has been dropped; the store has the revision unless it was compacted.  If the list has no limit, further
// pages are read while the response is written.
Task<Result<ListResult>> PrefixCache::list_from_store(Selection selection, ListPlan plan) {
  RangeRequest request;
  request.start = plan.from;
  request.end = selection.end();
  request.revision = plan.revision;
  request.limit = plan.limit > 0 && !selection.selects() ? plan.limit : std::max(plan.limit, kStorePage);
  request.skip_count = plan.limit == 0;
  ListResult result;
  result.revision = plan.revision;
  cache_metrics::list_of_store(config_.resource);
  std::vector<ObjectRef> entries;
  for (bool more = true; more;) {
    if (selection.abandoned()) co_return abandoned_list();
    auto reading = store_->storage.range(request);
    auto part = co_await std::move(reading);
    if (!part.ok()) co_return part.status().reason() == Reason::kExpired ? revision_gone(plan, selection) : std::move(part.status());
    if (plan.limit == 0) {
      Status gone = revision_gone(plan, selection);
      result.items = make_store_cursor(shared_from_this(), std::move(selection), std::move(request), std::move(*part), std::move(gone));
      co_return result;
    }
    more = part->more;
    const std::size_t had = entries.size();
    for (std::size_t i = 0; i < part->items.size(); ++i) {
      if (part->items[i].unreadable) continue;
      ObjectRef entry = make_entry(part->items[i]);
      if (!selection.selected(*entry)) continue;
      entries.push_back(std::move(entry));
      if (static_cast<std::int64_t>(entries.size()) < plan.limit) continue;
      if (more || i + 1 < part->items.size()) {
        result.continue_token = encode_continue(std::string(entries.back()->key()) + '\0', selection.list_prefix(), plan.revision);
        if (!selection.selects()) result.remaining = part->count - plan.limit;
      }
      more = false;
      break;
    }
    cache_metrics::read_from_store(config_.resource, part->items.size(), entries.size() - had);
    if (!part->items.empty()) request.start = part->items.back().key + '\0';
  }
  result.items = make_cursor(std::move(entries));
  co_return result;
}

}  // namespace backplane
