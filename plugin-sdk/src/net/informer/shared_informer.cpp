// Follows one resource: a list, a watch, and further watches from the last revision.
#include <algorithm>
#include <iterator>
#include <mutex>
#include <set>

#include "backplane/core/exception_text.hpp"
#include "backplane/core/logger.hpp"
#include "backplane/net/informer.hpp"

namespace backplane BACKPLANE_API {
namespace {

constexpr std::int64_t kPageSize = 500;
constexpr std::string_view kInitialEventsEnd = "k8s.io/initial-events-end";

bool is_gone(const Status& status) {
  return status.reason() == Reason::kExpired || status.reason() == Reason::kGone || status.code() == 410;
}

bool ends_initial_events(const ObjectEntry& bookmark) {
  const Object object = decode(bookmark, json::storage_ptr());
  const Value* annotations = find_path(object, {"metadata", "annotations"});
  return annotations != nullptr && annotations->is_object() && get_string(annotations->get_object(), kInitialEventsEnd) == "true";
}

// True if the server refuses a watch that begins with a list; like client-go, the informer then makes a list. kube-apiserver refuses such a
// watch if its etcd cannot request progress. The reasons in kOther do not mean a refusal, because a watch that does not begin with a list
// fails with them too.
bool refuses_streamed_lists(const Status& status) {
  constexpr Reason kOther[] = {Reason::kUnauthorized,    Reason::kNotFound,           Reason::kServerTimeout, Reason::kTimeout,
                               Reason::kTooManyRequests, Reason::kServiceUnavailable, Reason::kExpired};
  return !status.ok() && !is_gone(status) && std::find(std::begin(kOther), std::end(kOther), status.reason()) == std::end(kOther);
}

// Returns the options of a watch that begins with the list (`initial`), or that follows `revision`.
ListOptions options_from(bool initial, Revision revision) {
  ListOptions options;
  options.watch = true;
  options.allow_watch_bookmarks = true;
  if (initial) {
    options.send_initial_events = true;
    options.match = ResourceVersionMatch::kNotOlderThan;
  } else {
    options.resource_version = std::to_string(revision);
  }
  return options;
}

Status status_of(const ObjectEntry& error) {
  const Object object = decode(error, json::storage_ptr());
  const int code = static_cast<int>(get_int(object, "code").value_or(500));
  const Reason reason = code == 410 ? Reason::kExpired : Reason::kInternalError;
  return Status(code, reason, std::string(get_string(object, "message")));
}

}  // namespace

struct SharedInformer::State {
  std::string name;
  std::shared_ptr<ListerWatcher> source;
  Logger& logger;

  Indexer indexer;
  std::atomic<Revision> revision{0};  // 0: nothing has been listed yet, or the history after the last revision has been compacted
  std::atomic<bool> synced{false};
  std::atomic<bool> stopped{false};

  // Locked while handlers are called, so that all handlers receive all changes in one order.  Never locked across a co_await.
  std::mutex delivery;
  std::map<int, ResourceEventHandler> handlers;
  int next_handler = 1;

  std::mutex mutex;  // guards the members below
  std::shared_ptr<WatchStream> stream;
  std::vector<Promise<bool>> pauses;
  std::vector<Promise<bool>> waiters;

  State(std::string name_in, std::shared_ptr<ListerWatcher> source_in, Logger& logger_in)
      : name(std::move(name_in)), source(std::move(source_in)), logger(logger_in) {}

  void put(const ObjectRef& object, bool initial) {
    std::lock_guard lock(delivery);
    const ObjectRef old = indexer.put(object);
    for (const auto& [_, handler] : handlers) {
      if (old == nullptr && handler.on_add) handler.on_add(object, initial);
      // Objects that have not changed are in a new list too; they are not reported.
      if (old != nullptr && old->revision != object->revision && handler.on_update) handler.on_update(old, object);
    }
  }
  void drop(std::string_view key, const ObjectRef& last, bool unknown) {
    std::lock_guard lock(delivery);
    ObjectRef known = indexer.remove(key);
    if (known == nullptr) return;
    for (const auto& [_, handler] : handlers) {
      if (handler.on_delete) handler.on_delete(last ? last : known, unknown);
    }
  }
  // Removes the objects that are not in the new list: they were deleted at an unknown time.
  void drop_missing(const std::set<std::string, std::less<>>& listed) {
    for (const std::string& key : indexer.list_keys()) {
      if (!listed.contains(key)) drop(key, nullptr, true);
    }
  }
  void finish_list(Revision at) {
    revision.store(at);
    if (synced.exchange(true)) return;
    notify_waiters(true);
  }
  void notify_waiters(bool value) {
    std::vector<Promise<bool>> ended;
    {
      std::lock_guard lock(mutex);
      ended.swap(waiters);
    }
    for (const auto& waiter : ended) waiter.set(value);
  }
  // Stores the watch. Returns false if the informer has been stopped.
  bool hold(std::shared_ptr<WatchStream> opened) {
    std::lock_guard lock(mutex);
    if (stopped.load()) return false;
    stream = std::move(opened);
    return true;
  }
};

std::shared_ptr<SharedInformer> SharedInformer::make(std::string name, std::shared_ptr<ListerWatcher> source, Logger& logger) {
  return std::shared_ptr<SharedInformer>(new SharedInformer(std::make_unique<State>(std::move(name), std::move(source), logger)));
}
SharedInformer::SharedInformer(std::unique_ptr<State> state) : state_(std::move(state)) {}
SharedInformer::~SharedInformer() = default;

int SharedInformer::add_event_handler(ResourceEventHandler handler) {
  std::lock_guard lock(state_->delivery);
  if (handler.on_add) {
    for (const ObjectRef& object : state_->indexer.list()) handler.on_add(object, true);
  }
  state_->handlers.emplace(state_->next_handler, std::move(handler));
  return state_->next_handler++;
}

void SharedInformer::remove_event_handler(int number) {
  std::lock_guard lock(state_->delivery);
  state_->handlers.erase(number);
}

Indexer& SharedInformer::indexer() noexcept { return state_->indexer; }
const Indexer& SharedInformer::indexer() const noexcept { return state_->indexer; }
bool SharedInformer::has_synced() const noexcept { return state_->synced.load(); }
bool SharedInformer::stopped() const noexcept { return state_->stopped.load(); }
Revision SharedInformer::last_sync_revision() const noexcept { return state_->revision.load(); }

Task<bool> SharedInformer::wait_synced() {
  const auto self = shared_from_this();
  Promise<bool> synced;
  {
    std::lock_guard lock(state_->mutex);
    if (state_->synced.load()) co_return true;
    if (state_->stopped.load()) co_return false;
    state_->waiters.push_back(synced);
  }
  const bool whole = co_await synced.future();
  co_return whole;
}

void SharedInformer::stop() {
  std::shared_ptr<WatchStream> stream;
  std::vector<Promise<bool>> pauses;
  {
    std::lock_guard lock(state_->mutex);
    state_->stopped.store(true);
    stream.swap(state_->stream);
    pauses.swap(state_->pauses);
  }
  if (stream) stream->cancel();
  for (const auto& pause : pauses) pause.set(false);
  state_->notify_waiters(false);
}

Task<void> SharedInformer::pause(std::chrono::nanoseconds time) {
  Promise<bool> over;
  {
    std::lock_guard lock(state_->mutex);
    if (state_->stopped.load()) co_return;
    state_->pauses.push_back(over);
  }
  const std::function<void()> cancel = current_executor()->after(time, [over] { over.set(true); });
  co_await over.future();
  cancel();
  std::lock_guard lock(state_->mutex);
  std::erase_if(state_->pauses, [](const Promise<bool>& pause) { return pause.future().await_ready(); });
}

Task<void> SharedInformer::run() {
  const auto self = shared_from_this();
  std::chrono::nanoseconds delay = kFirstPause;
  while (!stopped()) {
    const Revision before = last_sync_revision();
    Status followed;
    try {
      followed = co_await follow();
    } catch (...) {
      followed = internal_error(exception_text());
    }
    if (stopped()) break;
    // A watch that has delivered events has ended normally, so it is reopened without a longer pause.
    if (last_sync_revision() != before) delay = kFirstPause;
    if (is_gone(followed)) {
      state_->revision.store(0);
    } else if (!followed.ok()) {
      state_->logger.warn("restarting list and watch resource=" + state_->name + " reason=" + quoted(followed.message()));
    } else if (last_sync_revision() != before) {
      continue;
    }
    co_await pause(delay);
    delay = std::min<std::chrono::nanoseconds>(delay * 2, kLongestPause);
  }
}

Task<void> SharedInformer::run_resync(std::chrono::nanoseconds period) {
  const auto self = shared_from_this();
  while (!stopped()) {
    co_await pause(period);
    if (stopped()) co_return;
    if (!has_synced()) continue;
    std::lock_guard lock(state_->delivery);
    for (const ObjectRef& object : state_->indexer.list()) {
      for (const auto& [_, handler] : state_->handlers) {
        if (handler.on_update) handler.on_update(object, object);
      }
    }
  }
}

Task<Status> SharedInformer::follow() {
  for (bool initial = last_sync_revision() == 0 && state_->source->streams_lists();; initial = false) {
    if (!initial && last_sync_revision() == 0) {
      Status listed = co_await take_list();
      if (!listed.ok() || stopped()) co_return listed;
    }
    auto opened = co_await state_->source->watch(options_from(initial, last_sync_revision()));
    Status taken;
    if (!opened.ok()) {
      taken = std::move(opened).status();
    } else if (!state_->hold(*opened)) {
      (*opened)->cancel();
      co_return Status();
    } else {
      taken = co_await take_stream(*opened, initial);
      state_->hold(nullptr);
    }
    if (!initial || last_sync_revision() != 0 || !refuses_streamed_lists(taken)) co_return taken;
    state_->logger.info("the server refuses a list in a watch: listing resource=" + state_->name + " reason=" + quoted(taken.message()));
  }
}

Task<Status> SharedInformer::take_list() {
  std::set<std::string, std::less<>> listed;
  Revision revision = 0;
  ListOptions options;
  options.limit = kPageSize;
  do {
    auto page = co_await state_->source->list(options);
    if (!page.ok()) co_return std::move(page).status();
    for (const ObjectRef& object : page->items) {
      listed.insert(object_key(*object));
      state_->put(object, !has_synced());
    }
    revision = page->revision;
    options.continue_token = page->continue_token;
  } while (!options.continue_token.empty() && !stopped());
  if (stopped()) co_return Status();
  state_->drop_missing(listed);
  state_->finish_list(revision);
  co_return Status();
}

Task<Status> SharedInformer::take_stream(std::shared_ptr<WatchStream> stream, bool initial) {
  std::set<std::string, std::less<>> listed;
  while (!stopped()) {
    auto events = co_await stream->next();
    if (!events.ok()) co_return std::move(events).status();
    if (events->empty()) co_return Status();
    for (const WatchEvent& event : *events) {
      if (event.object == nullptr) continue;
      if (!initial) {
        Status taken = take_event(event);
        if (!taken.ok()) co_return taken;
      } else if (event.type == WatchEvent::Type::kError) {
        co_return status_of(*event.object);
      } else if (event.type != WatchEvent::Type::kBookmark) {
        // Before the bookmark, the watch delivers only existing objects; concurrent changes follow it.
        listed.insert(object_key(*event.object));
        state_->put(event.object, !has_synced());
      } else if (ends_initial_events(*event.object)) {
        initial = false;
        state_->drop_missing(listed);
        listed.clear();
        state_->finish_list(event.object->revision);
      }
    }
  }
  co_return Status();
}

Status SharedInformer::take_event(const WatchEvent& event) {
  switch (event.type) {
    case WatchEvent::Type::kAdded:
    case WatchEvent::Type::kModified:
      state_->put(event.object, false);
      break;
    case WatchEvent::Type::kDeleted:
      state_->drop(object_key(*event.object), event.object, false);
      break;
    case WatchEvent::Type::kBookmark:
      break;
    case WatchEvent::Type::kError:
      return status_of(*event.object);
  }
  state_->revision.store(event.object->revision);
  return {};
}

}  // namespace BACKPLANE_API
