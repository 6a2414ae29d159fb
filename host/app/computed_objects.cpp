#include "app/computed_objects.hpp"

#include <charconv>
#include <chrono>
#include <optional>

#include "backplane/core/task.hpp"

namespace backplane {
namespace {

constexpr std::size_t kHistory = 256;  // each event has an object of about a kilobyte

// Microseconds since 1970, so that revisions grow over restarts: a server makes less than one event per microsecond.
Revision first_revision() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<Revision>(std::chrono::duration_cast<std::chrono::microseconds>(now).count());
}

std::optional<Revision> revision_of(const std::string& text) {
  Revision out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return out;
}

}  // namespace

bool selects(const ListOptions& options, const ObjectEntry& object) {
  const auto field = [&](std::string_view label) { return label == "metadata.name" ? object.name() : std::string_view(); };
  return options.labels.matches(object.labels()) && options.fields.matches(field);
}

// One watch. Its events wait in a queue until next() returns them.
class ComputedObjects::Stream final : public WatchStream {
 public:
  Stream(ListOptions options, std::vector<WatchEvent> first) : options_(std::move(options)), events_(std::move(first)) {}

  Task<Result<std::vector<WatchEvent>>> next() override {
    for (;;) {
      std::optional<Promise<bool>> waking;
      {
        const std::lock_guard lock(mutex_);
        if (cancelled_) co_return std::vector<WatchEvent>();
        if (!events_.empty()) co_return std::exchange(events_, {});
        waking = wake_promise_.emplace();
      }
      auto woken = waking->future();
      co_await woken;
    }
  }
  void cancel() override {
    std::optional<Promise<bool>> waking;
    {
      const std::lock_guard lock(mutex_);
      cancelled_ = true;
      waking = std::exchange(wake_promise_, std::nullopt);
    }
    if (waking) waking->set(true);
  }
  void push(const WatchEvent& event) {
    if (!selects(options_, *event.object)) return;
    std::optional<Promise<bool>> waking;
    {
      const std::lock_guard lock(mutex_);
      events_.push_back(event);
      waking = std::exchange(wake_promise_, std::nullopt);
    }
    if (waking) waking->set(true);
  }

 private:
  const ListOptions options_;
  std::mutex mutex_;
  std::vector<WatchEvent> events_;
  std::optional<Promise<bool>> wake_promise_;
  bool cancelled_ = false;
};

ComputedObjects::ComputedObjects(std::string kind, std::string api_version)
    : kind_(std::move(kind)), api_version_(std::move(api_version)), revision_(first_revision()), floor_(revision_) {}

ObjectRef ComputedObjects::entry_of(const std::string& name, const std::string& text, Revision revision) const {
  auto entry = std::make_shared<ObjectEntry>();
  entry->revision = revision;
  entry->set_identity({}, {}, name);
  const auto head = static_cast<std::uint32_t>(std::string(R"({"kind":"","apiVersion":"",)").size() + kind_.size() + api_version_.size());
  entry->set_json(SharedBytes(splice_resource_version(text, revision, false)), head);
  return entry;
}

void ComputedObjects::set(const std::map<std::string, Object>& objects) {
  std::vector<WatchEvent> events;
  std::vector<std::shared_ptr<Stream>> streams;
  const std::lock_guard lock(mutex_);
  for (auto item = items_.begin(); item != items_.end();) {
    if (objects.contains(item->first)) {
      ++item;
      continue;
    }
    events.push_back({WatchEvent::Type::kDeleted, entry_of(item->first, item->second.text, ++revision_)});
    item = items_.erase(item);
  }
  for (const auto& [name, object] : objects) {
    std::string text = to_json(object);
    Item& item = items_[name];
    if (item.object && item.text == text) continue;
    const auto type = item.object ? WatchEvent::Type::kModified : WatchEvent::Type::kAdded;
    item = {std::move(text), nullptr};
    item.object = entry_of(name, item.text, ++revision_);
    events.push_back({type, item.object});
  }
  for (const auto& event : events) history_.push_back(event);
  for (; history_.size() > kHistory; history_.pop_front()) floor_ = history_.front().object->revision;
  std::erase_if(streams_, [](const auto& stream) { return stream.expired(); });
  for (const auto& weak : streams_) {
    const auto stream = weak.lock();
    for (const auto& event : events) {
      if (stream) stream->push(event);
    }
  }
}

ObjectRef ComputedObjects::find(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto found = items_.find(name);
  return found == items_.end() ? nullptr : found->second.object;
}

ComputedObjects::List ComputedObjects::list() const {
  const std::lock_guard lock(mutex_);
  List out{revision_, {}};
  for (const auto& [_, item] : items_) out.objects.push_back(item.object);
  return out;
}

WatchEvent ComputedObjects::initial_end(Revision revision) const {
  const Object bookmark{{"kind", kind_},
                        {"apiVersion", api_version_},
                        {"metadata", Object{{"resourceVersion", std::to_string(revision)},
                                            {"creationTimestamp", nullptr},
                                            {"annotations", Object{{"k8s.io/initial-events-end", "true"}}}}}};
  auto entry = std::make_shared<ObjectEntry>();
  entry->revision = revision;
  entry->set_json(SharedBytes(to_json(bookmark)));
  return {WatchEvent::Type::kBookmark, std::move(entry)};
}

Result<std::unique_ptr<WatchStream>> ComputedObjects::watch(const ListOptions& options) {
  // The caller owns the returned stream; the Stream behind it is shared with the list of notified streams.
  class Shared final : public WatchStream {
   public:
    explicit Shared(std::shared_ptr<Stream> stream) : stream_(std::move(stream)) {}
    ~Shared() override { stream_->cancel(); }
    Task<Result<std::vector<WatchEvent>>> next() override { return stream_->next(); }
    void cancel() override { stream_->cancel(); }

   private:
    const std::shared_ptr<Stream> stream_;
  };
  const std::lock_guard lock(mutex_);
  const bool all = options.send_initial_events.value_or(options.resource_version.empty() || options.resource_version == "0");
  std::vector<WatchEvent> first;
  if (all) {
    for (const auto& [_, item] : items_) {
      if (selects(options, *item.object)) first.push_back({WatchEvent::Type::kAdded, item.object});
    }
    if (options.send_initial_events.value_or(false) && options.allow_watch_bookmarks) first.push_back(initial_end(revision_));
  } else if (!options.resource_version.empty() && options.resource_version != "0") {
    const auto after = revision_of(options.resource_version);
    if (!after) return bad_request("invalid resource version");
    if (*after < floor_) return expired("too old resource version: " + options.resource_version + " (" + std::to_string(floor_) + ")");
    for (const auto& event : history_) {
      if (event.object->revision > *after && selects(options, *event.object)) first.push_back(event);
    }
  }
  auto stream = std::make_shared<Stream>(options, std::move(first));
  streams_.push_back(stream);
  return std::unique_ptr<WatchStream>(std::make_unique<Shared>(std::move(stream)));
}

}  // namespace backplane
