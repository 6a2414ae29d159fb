// deletecollection: the list page by page, one delete per object, a few of them under way at once.
#include "registry/object_store.hpp"

namespace backplane::registry {
namespace {

// Deletes under way at once: enough for the backend to commit them as groups.
constexpr std::size_t kDeleteWorkers = 16;
// A list without a limit is read in pages of so many, as upstream reads it: with a resource version it is then read at just that version.
constexpr std::int64_t kPageSize = 10000;

// A list of entries that were collected before.
class CollectedCursor final : public ObjectCursor {
 public:
  explicit CollectedCursor(std::vector<ObjectRef> entries) : entries_(std::move(entries)) {}
  const ObjectEntry* next() override { return next_ < entries_.size() ? entries_[next_++].get() : nullptr; }

 private:
  std::vector<ObjectRef> entries_;
  std::size_t next_ = 0;
};

// What the workers of one request share.  All of them run on the request's executor, one at a time.
struct Sweep {
  ObjectStore& store;
  RequestContext& context;
  DeleteOptions options;
  ObjectCursor* cursor = nullptr;  // of the page at hand
  std::vector<ObjectRef> taken;
  Status failure;
  std::size_t running = 0;
  Promise<bool> finished;
};

Task<void> sweep(Sweep& shared) {
  while (shared.failure.ok()) {
    if (expired(shared.context)) shared.failure = deadline_error();
    const ObjectEntry* next = shared.failure.ok() ? shared.cursor->next() : nullptr;
    if (next == nullptr) break;
    auto entry = std::make_shared<const ObjectEntry>(*next);
    shared.taken.push_back(entry);
    auto removed = co_await shared.store.remove_in(shared.context, entry->ns, entry->name, shared.options);
    const bool failed = !removed.ok() && removed.status().reason() != Reason::kNotFound;
    if (failed && shared.failure.ok()) shared.failure = std::move(removed.status());
  }
}

Task<void> sweep_with(Sweep& shared, std::size_t workers) {
  Executor* executor = current_executor();
  if (executor == nullptr || workers < 2) {
    co_await sweep(shared);
    co_return;
  }
  shared.running = workers;
  for (std::size_t i = 0; i < workers; ++i) {
    spawn_detached(*executor, sweep(shared), [&shared] {
      if (--shared.running == 0) shared.finished.set(true);
    });
  }
  co_await shared.finished.future();
}

}  // namespace

Task<Result<ListResult>> ObjectStore::remove_collection(RequestContext& context, DeleteOptions options, ListOptions list) {
  const bool one_page = list.limit > 0;
  if (!one_page) list.limit = kPageSize;
  Sweep shared{*this, context, std::move(options), nullptr, {}, {}, 0, {}};
  std::optional<ListResult> result;
  for (bool more = true; more;) {
    ListOptions asked = list;
    auto listed = co_await this->list(context, std::move(asked));
    if (!listed.ok()) co_return std::move(listed.status());
    shared.cursor = listed->items.get();
    shared.finished = Promise<bool>();
    co_await sweep_with(shared, kDeleteWorkers);
    if (!shared.failure.ok()) co_return std::move(shared.failure);
    more = !one_page && !listed->continue_token.empty();
    list.continue_token = listed->continue_token;
    list.resource_version.clear();
    list.match = ResourceVersionMatch::kUnset;
    // The answer is the first page with the objects of all.
    if (!result) result = std::move(*listed);
  }
  result->items = std::make_unique<CollectedCursor>(std::move(shared.taken));
  co_return std::move(*result);
}

}  // namespace backplane::registry
