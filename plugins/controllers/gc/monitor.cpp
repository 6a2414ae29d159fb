#include "gc/monitor.hpp"

#include "backplane/core/exception_text.hpp"

namespace backplane::controllers {
namespace {

constexpr std::chrono::milliseconds kFirstPause{200};
constexpr std::chrono::seconds kLongestPause{60};
constexpr std::int64_t kPage = 500;

bool is_history_gone(const Status& status) { return status.reason() == Reason::kExpired || status.code() == 410; }

// An annotation marks the bookmark that ends the initial events.
bool ends_list(const ObjectEntry& bookmark) { return bookmark.json().view().find("k8s.io/initial-events-end") != std::string_view::npos; }

Status error_of(const ObjectEntry& error) {
  const Object object = decode(error, json::storage_ptr());
  const int code = static_cast<int>(get_int(object, "code").value_or(500));
  return Status(code, code == 410 ? Reason::kExpired : Reason::kInternalError, std::string(get_string(object, "message")));
}

}  // namespace

Monitor::Monitor(const Context& context, Collectable resource, Callbacks callbacks)
    : context_(context), resource_(std::move(resource)), callbacks_(std::move(callbacks)) {}

std::shared_ptr<Monitor> make_monitor(const Context& context, GroupVersionResource resource, std::string kind,
                                      Monitor::Callbacks callbacks) {
  Collectable only;
  only.versions.push_back({std::move(resource), std::move(kind), /*namespaced=*/true});
  auto monitor = std::make_shared<Monitor>(context, std::move(only), std::move(callbacks));
  context.term->on_end([monitor] { monitor->stop(); });
  return monitor;
}

void Monitor::stop() {
  stopped_ = true;
  if (stream_) std::exchange(stream_, nullptr)->cancel();
}

Task<void> Monitor::run() {
  const auto self = shared_from_this();
  std::chrono::nanoseconds pause = kFirstPause;
  while (!stopped_) {
    const Revision before = revision_;
    Status followed;
    try {
      if (revision_ == 0 && callbacks_.listing) callbacks_.listing(type());
      followed = co_await follow();
    } catch (...) {
      followed = internal_error(exception_text());
    }
    if (stopped_) break;
    if (followed.ok() && revision_ != before) {
      pause = kFirstPause;
      reported_ = false;
      continue;
    }
    if (!followed.ok() && is_history_gone(followed)) {
      revision_ = 0;
      continue;
    }
    first_list_done_ = true;
    if (!followed.ok()) {
      if (!reported_) {
        context_.host.logger().warn("objects of a type are not collected until it can be watched resource=" + type().resource.resource +
                                    "." + type().resource.group + " error=" + quoted(followed.message()));
      }
      reported_ = true;
      revision_ = 0;
      ++version_;
    }
    const bool slept = co_await context_.term->sleep(pause);
    if (!slept) break;
    pause = std::min<std::chrono::nanoseconds>(pause * 2, kLongestPause);
  }
}

// A storage of this process streams its list; the objects of an aggregated server are read through this server.
std::shared_ptr<ListerWatcher> Monitor::source() const {
  if (context_.host.find_storage(type().resource) != nullptr) return list_watch(context_.host, type().resource);
  return list_watch(std::make_shared<ApiClient>(context_.api), type().resource);
}

Task<Status> Monitor::follow() {
  const auto from = source();
  if (revision_ == 0 && !from->streams_lists()) co_return co_await list_and_watch();
  ListOptions options;
  options.watch = true;
  options.allow_watch_bookmarks = true;
  const bool initial = revision_ == 0;
  options.transient_objects = initial;
  if (initial) {
    options.send_initial_events = true;
    options.match = ResourceVersionMatch::kNotOlderThan;
  } else {
    options.resource_version = std::to_string(revision_);
  }
  auto opened = co_await from->watch(std::move(options));
  if (!opened.ok()) co_return std::move(opened).status();
  auto taking = take(*opened, initial);
  co_return co_await std::move(taking);
}

Task<Status> Monitor::list_and_watch() {
  const auto from = source();
  ListOptions options;
  options.limit = kPage;
  options.transient_objects = true;
  Revision revision = 0;
  do {
    auto page = co_await from->list(options);
    if (!page.ok()) co_return std::move(page).status();
    for (const ObjectRef& object : page->items) callbacks_.event(type(), WatchEvent{EventType::kAdded, object}, true);
    revision = page->revision;
    options.continue_token = page->continue_token;
  } while (!options.continue_token.empty() && !stopped_);
  if (stopped_) co_return Status();
  callbacks_.listed(type());
  first_list_done_ = true;
  revision_ = revision;
  co_return Status();
}

Task<Status> Monitor::take(std::shared_ptr<WatchStream> stream, bool initial) {
  if (stopped_) {
    stream->cancel();
    co_return Status();
  }
  stream_ = stream;
  while (!stopped_) {
    auto events = co_await stream->next();
    if (!events.ok()) co_return std::move(events).status();
    if (events->empty()) break;
    for (const WatchEvent& event : *events) {
      if (event.object == nullptr) continue;
      if (event.type == EventType::kError) co_return error_of(*event.object);
      if (event.type != EventType::kBookmark) {
        callbacks_.event(type(), event, initial);
      } else if (initial && ends_list(*event.object)) {
        initial = false;
        callbacks_.listed(type());
        first_list_done_ = true;
      }
      // Objects of another server have the revision 0. A new watch of them begins with a list.
      if (!initial && event.object->revision != 0) revision_ = event.object->revision;
    }
  }
  stream_.reset();
  co_return Status();
}

}  // namespace backplane::controllers
