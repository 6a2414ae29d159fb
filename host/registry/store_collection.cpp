// deletecollection: lists the objects page by page and deletes each object; many deletes run concurrently.
#include <algorithm>

#include "backplane/core/task_set.hpp"
#include "base/yield.hpp"
#include "registry/object_store.hpp"

namespace backplane::registry {
namespace {

// The page size if the request has no limit, as upstream. With a limit, a list with a resourceVersion reads exactly that version.
constexpr std::int64_t kPageSize = 10000;

// The number of concurrent deletes per worker (--delete-collection-workers). Each delete waits until the store has written it to the disk,
// and concurrent deletes share one disk write.
constexpr std::size_t kUnderWay = 64;
constexpr std::size_t kMostUnderWay = 1024;

// The shared state of one request's deletes. All of them run on the request's executor, so one accesses this state at a time.
struct Sweep {
  ObjectStore& store;
  WriteMode mode;
  RequestContext& context;
  DeleteOptions options;
  std::span<const ObjectEntry* const> batch;  // the rest of the current batch
  std::vector<ObjectRef> taken;
  Status failure;
};

// Deletes one object. An exception of a plugin becomes an error that ends the request, because no caller receives exceptions of these
// tasks.
Task<Status> remove_one(Sweep& shared, const ObjectEntry& entry) {
  std::string what = "an exception that is not a std::exception";
  try {
    auto removed =
        co_await shared.store.remove_as(shared.mode, shared.context, std::string(entry.ns()), std::string(entry.name()), shared.options);
    co_return std::move(removed).status();
  } catch (const std::exception& error) {
    what = error.what();
  } catch (...) {
  }
  co_return internal_error("DeleteCollection worker failed: " + what);
}

Task<void> sweep(Sweep& shared) {
  while (shared.failure.ok()) {
    if (expired(shared.context)) shared.failure = deadline_error();
    if (!shared.failure.ok() || shared.batch.empty()) break;
    auto entry = std::make_shared<const ObjectEntry>(*shared.batch.front());
    shared.batch = shared.batch.subspan(1);
    shared.taken.push_back(entry);
    // A dry run never waits for the store, so it yields to other requests of the loop.
    const Yield pause;
    if (shared.taken.size() % kUnderWay == 0) co_await pause;
    Status removed = co_await remove_one(shared, *entry);
    if (!removed.ok() && removed.reason() != Reason::kNotFound && shared.failure.ok()) shared.failure = std::move(removed);
  }
}

Task<void> sweep_with(Sweep& shared, std::size_t under_way) {
  if (current_executor() == nullptr || under_way < 2) {
    co_await sweep(shared);
    co_return;
  }
  std::vector<Task<void>> sweeps;
  for (std::size_t i = 0; i < under_way; ++i) sweeps.push_back(sweep(shared));
  auto sweeping = when_all(std::move(sweeps));
  co_await std::move(sweeping);
}

// Deletes every object of one page.
Task<Status> sweep_page(Sweep& shared, ObjectCursor& page, std::size_t under_way) {
  for (;;) {
    auto reading = page.next();
    auto batch = co_await std::move(reading);
    if (!batch.ok()) co_return std::move(batch.status());
    if (batch->empty()) co_return Status();
    shared.batch = *batch;
    co_await sweep_with(shared, std::min(under_way, batch->size()));
    if (!shared.failure.ok()) co_return std::move(shared.failure);
  }
}

// The error of the first unreadable object in the namespace. The request fails, because it cannot delete unreadable objects.
Status check_readable(const ResourceCache& cache, const std::string& ns) {
  CacheScope scope;
  scope.ns = ns;
  const Unreadable left_out = cache.unreadable(scope);
  return left_out.empty() ? Status() : *left_out.begin()->second;
}

}  // namespace

Task<Result<ListResult>> ObjectStore::remove_collection(RequestContext& context, DeleteOptions options, ListOptions list) {
  return remove_collection_as(default_mode(), context, std::move(options), std::move(list));
}

Task<Result<ListResult>> ObjectStore::remove_collection_as(WriteMode mode, RequestContext& context, DeleteOptions options,
                                                           ListOptions list) {
  const Backing* backing = slot_.get();
  if (backing == nullptr) co_return not_started();
  const auto workers = static_cast<std::size_t>(std::max(1, backing->settings->delete_collection_workers));
  const std::size_t under_way = std::min(workers, kMostUnderWay / kUnderWay) * kUnderWay;
  Status readable = check_readable(*backing->cache, context.info.ns);
  if (!readable.ok()) co_return readable;
  const bool one_page = list.limit > 0;
  if (!one_page) list.limit = kPageSize;
  mode.of_collection = true;
  Sweep shared{*this, mode, context, std::move(options), {}, {}, {}};
  std::optional<ListResult> result;
  for (bool more = true; more;) {
    ListOptions asked = list;
    auto listed = co_await this->list(context, std::move(asked));
    if (!listed.ok()) co_return std::move(listed.status());
    Status swept = co_await sweep_page(shared, *listed->items, under_way);
    if (!swept.ok()) co_return swept;
    more = !one_page && !listed->continue_token.empty();
    list.continue_token = listed->continue_token;
    list.resource_version.clear();
    list.match = ResourceVersionMatch::kUnset;
    // The response has the list metadata of the first page and the objects of all pages.
    if (!result) result = std::move(*listed);
  }
  result->items = make_cursor(std::move(shared.taken));
  co_return std::move(*result);
}

}  // namespace backplane::registry
