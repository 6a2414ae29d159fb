#include "watches.hpp"

#include <algorithm>
#include <deque>
#include <optional>

#include "backplane/points/storage_feed.hpp"
#include "calls.hpp"

namespace backplane::etcd {
namespace {

constexpr std::size_t kReadAhead = 16 * 1024 * 1024;  // bytes of events that wait for next()
constexpr std::chrono::milliseconds kFirstPause{50}, kLongestPause{2'000};
constexpr std::chrono::milliseconds kLook{200};  // in a pause, for a server that has come back

class Follower;

}  // namespace

struct Watches::Shared {
  Shared(Cluster& cluster_in, WireThread& wire_in, Keys keys_in, std::string root_in, std::string fence_in, Logger* logger_in)
      : cluster(cluster_in),
        wire(wire_in),
        keys(std::move(keys_in)),
        root(std::move(root_in)),
        root_end(prefix_end(root)),
        fence(std::move(fence_in)),
        logger(logger_in) {}

  Cluster& cluster;
  WireThread& wire;
  const Keys keys;
  const std::string root, root_end, fence;
  Logger* const logger;
  std::atomic<bool> fenced{false};
  std::mutex mutex;
  std::set<Follower*> open;
  bool stopped = false;
  std::size_t running = 0;  // streams and pauses
  Promise<bool> idle;

  bool enter() {
    const std::lock_guard lock(mutex);
    if (!stopped) ++running;
    return !stopped;
  }
  void leave() {
    const std::lock_guard lock(mutex);
    if (--running == 0 && stopped) idle.set(true);
  }
};

namespace {

using Shared = Watches::Shared;

// What one stream tells whoever opened it; on the thread of the answers.
class StreamListener {
 public:
  virtual ~StreamListener() = default;
  // False: no more is read until Stream::resume().
  virtual bool received(etcdserverpb::WatchResponse& response) = 0;
  virtual void ended(const CallStatus& status) = 0;
};

// One stream with one watch.  It holds itself until it has ended.
class Stream final : public CallListener {
 public:
  Stream(std::shared_ptr<Shared> shared, std::shared_ptr<StreamListener> listener)
      : shared_(std::move(shared)), listener_(std::move(listener)) {}

  // False: the cluster has stopped; nothing will be told.
  bool start(const std::shared_ptr<Stream>& self, const etcdserverpb::WatchRequest& request) {
    if (!shared_->cluster.enter()) return false;
    const std::lock_guard lock(mutex_);
    self_ = self;
    server_ = &shared_->cluster.server();
    count_started(kWatchMethod);
    count_sent(kWatchMethod);
    call_ = server_->channel->start({kWatchMethod, request.SerializeAsString(), Channel::Clock::time_point::max(), true}, *this);
    return true;
  }
  void ask_progress() {
    etcdserverpb::WatchRequest request;
    request.mutable_progress_request();
    if (const auto call = started()) {
      count_sent(kWatchMethod);
      server_->channel->send(call, request.SerializeAsString());
    }
  }
  void resume() {
    if (const auto call = started()) server_->channel->resume(call);
  }
  void cancel() {
    if (const auto call = started()) server_->channel->cancel(call);
  }

 private:
  // None: start() has not returned; who opens it looks once more whether it is wanted.
  Channel::CallRef started() {
    const std::lock_guard lock(mutex_);
    return call_;
  }
  bool message(std::string bytes) override {
    count_received(kWatchMethod);
    if (response_.ParseFromString(bytes)) return listener_->received(response_);
    if (shared_->logger != nullptr) shared_->logger->warn("a watch response of etcd is malformed, reopening the watch");
    cancel();
    return true;
  }
  void ended(CallStatus status) override {
    std::shared_ptr<Stream> self;
    {
      // Not before start() has returned.
      const std::lock_guard lock(mutex_);
      self = std::move(self_);
    }
    if (status.code == Code::kUnavailable) shared_->cluster.pass_over(*server_);
    count_handled(kWatchMethod, status);
    const auto shared = shared_;
    listener_->ended(status);
    self.reset();
    shared->cluster.leave();
    shared->leave();
  }

  const std::shared_ptr<Shared> shared_;
  const std::shared_ptr<StreamListener> listener_;
  std::mutex mutex_;
  std::shared_ptr<Stream> self_;
  Channel::CallRef call_;
  const Server* server_ = nullptr;
  etcdserverpb::WatchResponse response_;
};

// A watch: what has come and not been taken, and the stream that brings more.
class Follower final : public StreamListener, public std::enable_shared_from_this<Follower> {
 public:
  Follower(std::shared_ptr<Shared> shared, std::string prefix, Revision after)
      : shared_(std::move(shared)), prefix_(std::move(prefix)), reached_(after) {}

  void begin() {
    {
      const std::lock_guard lock(shared_->mutex);
      if (!shared_->stopped) shared_->open.insert(this);
    }
    connect();
  }
  void cancel() { finish(expired("the watch has ended")); }
  void ask_progress() {
    const auto stream = current();
    if (stream) stream->ask_progress();
  }
  Task<Result<EventBatch>> next();

  bool received(etcdserverpb::WatchResponse& response) override;
  void ended(const CallStatus& status) override;

 private:
  std::shared_ptr<Stream> current() {
    const std::lock_guard lock(mutex_);
    return stream_;
  }
  void connect();
  void connect_later();
  void pause();
  void pause_is_over();
  void ask_for_history();
  void finish(Status why);
  void deliver(EventBatch batch);
  void collect(etcdserverpb::WatchResponse& response);
  bool concerns(std::string_view key) const { return key.starts_with(prefix_); }
  etcdserverpb::WatchRequest first_request(Revision after) const;
  void warn(const std::string& text) const {
    if (shared_->logger != nullptr) shared_->logger->warn(text);
  }

  const std::shared_ptr<Shared> shared_;
  const std::string prefix_;  // in the store's words
  std::mutex mutex_;
  std::shared_ptr<Stream> stream_;
  std::deque<EventBatch> waiting_;
  std::size_t waiting_bytes_ = 0;
  bool stalled_ = false;  // the stream waits for next()
  std::optional<Promise<bool>> reader_;
  std::optional<Status> over_;
  // Of the thread of the answers:
  Revision reached_;     // everything up to here has been handed over; at first what it is to begin behind, which may be to come
  Revision seen_ = 0;    // of what has come
  EventBatch gathered_;  // of a response in several parts
  std::size_t gathered_bytes_ = 0;
  std::chrono::milliseconds pause_ = kFirstPause;
  std::chrono::steady_clock::time_point due_;  // the end of the pause
  bool none_reached_ = false;                  // when it began
  std::atomic<std::uint64_t> alarm_{0};
};

etcdserverpb::WatchRequest Follower::first_request(Revision after) const {
  etcdserverpb::WatchRequest request;
  auto& create = *request.mutable_create_request();
  const bool fenced = shared_->fenced.load();
  create.set_key(fenced ? shared_->fence : shared_->keys.to_etcd(prefix_));
  create.set_range_end(fenced ? shared_->root_end : prefix_end(create.key()));
  create.set_start_revision(after + 1);
  create.set_progress_notify(true);
  create.set_prev_kv(true);
  create.set_fragment(true);
  return request;
}

void Follower::connect() {
  if (!shared_->enter()) {
    finish(stopped_status());
    return;
  }
  std::shared_ptr<Stream> stream;
  {
    const std::lock_guard lock(mutex_);
    if (!over_) stream = stream_ = std::make_shared<Stream>(shared_, shared_from_this());
  }
  if (stream == nullptr) {
    shared_->leave();
    return;
  }
  if (!stream->start(stream, first_request(reached_))) {
    {
      const std::lock_guard lock(mutex_);
      stream_.reset();  // they hold each other
    }
    finish(stopped_status());
    shared_->leave();
    return;
  }
  // It may have been given up before there was anything to cancel.
  bool over = false;
  {
    const std::lock_guard lock(mutex_);
    over = over_.has_value();
  }
  if (over) stream->cancel();
}

void Follower::connect_later() {
  if (!shared_->enter()) {
    finish(stopped_status());
    return;
  }
  due_ = std::chrono::steady_clock::now() + pause_;
  none_reached_ = !shared_->cluster.reached();
  pause_ = std::min(pause_ * 2, kLongestPause);
  pause();
}

void Follower::pause() {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(due_ - std::chrono::steady_clock::now());
  alarm_.store(
      shared_->wire.after(std::clamp(left, std::chrono::milliseconds(0), kLook), [self = shared_from_this()] { self->pause_is_over(); }));
  // It may have been given up before there was an alarm to ring.
  bool over = false;
  {
    const std::lock_guard lock(mutex_);
    over = over_.has_value();
  }
  if (over) shared_->wire.at_once(alarm_.load());
}

// Of a connection that has come about meanwhile everybody else knows, too: who reads waits for what is watched.
void Follower::pause_is_over() {
  const bool there = none_reached_ && shared_->cluster.reached();
  bool over = false;
  {
    const std::lock_guard lock(mutex_);
    over = over_.has_value();
  }
  if (!over && !there && !shared_->cluster.stopping() && std::chrono::steady_clock::now() < due_) return pause();
  connect();
  shared_->leave();
}

void Follower::collect(etcdserverpb::WatchResponse& response) {
  for (auto& event : *response.mutable_events()) {
    gathered_.revision = std::max<Revision>(gathered_.revision, event.kv().mod_revision());
    if (event.kv().key() == shared_->fence) continue;
    const std::size_t bytes = sizeof(StorageEvent) + event.kv().key().size() + event.kv().value().size() + event.prev_kv().value().size();
    StorageEvent taken = take(event, shared_->keys);
    if (!concerns(taken.kv.key)) continue;
    gathered_bytes_ += bytes;
    gathered_.events.push_back(std::move(taken));
  }
}

// A server that lags behind says an older revision, too; all of them together do not, unless they have lost what was seen of them.
void Follower::ask_for_history() {
  pb::RangeRequest request;
  request.set_key(shared_->root);
  request.set_count_only(true);
  const auto done = [self = shared_from_this()](const CallStatus& status, const pb::RangeResponse& answer) {
    if (!status.ok()) {
      // It is asked again when the watch is.
      if (const auto stream = self->current()) stream->cancel();
      return;
    }
    if (answer.header().revision() >= self->seen_) return;
    self->warn("etcd's history has gone back from=" + std::to_string(self->seen_) + " to=" + std::to_string(answer.header().revision()));
    self->finish(expired("the history of the store has gone back"));
  };
  shared_->cluster.call_back<RangeCall>(shared_->cluster.server(), request, Cluster::kPatience, done);
}

bool Follower::received(etcdserverpb::WatchResponse& response) {
  if (response.canceled()) {
    if (response.compact_revision() > 0) {
      finish(compacted_status());
    } else {
      // The server has its reasons (it is starting, its authority changed): again, from where we are.
      warn("etcd ended a watch, asking again reason=" + quoted(response.cancel_reason()));
      if (const auto stream = current()) stream->cancel();
    }
    return true;
  }
  pause_ = kFirstPause;
  if (response.created()) {
    if (response.header().revision() < seen_) ask_for_history();
    return true;
  }
  collect(response);
  if (response.fragment()) return true;
  // Without events it is progress: everything up to the revision of its header has been sent.
  if (response.events_size() == 0 && gathered_.events.empty()) {
    gathered_.revision = std::max<Revision>(gathered_.revision, response.header().revision());
  }
  EventBatch batch = std::exchange(gathered_, {});
  seen_ = std::max(seen_, batch.revision);
  if (batch.revision <= reached_ && batch.events.empty()) batch.revision = reached_;
  reached_ = std::max(reached_, batch.revision);
  const std::size_t bytes = std::exchange(gathered_bytes_, 0);
  const std::lock_guard lock(mutex_);
  if (over_) return true;  // the next read finds out that the stream has been cancelled
  // How far it has come replaces how far it had come.
  if (batch.events.empty() && !waiting_.empty() && waiting_.back().events.empty()) waiting_.pop_back();
  waiting_.push_back(std::move(batch));
  waiting_bytes_ += bytes;
  if (reader_) reader_->set(true);
  stalled_ = waiting_bytes_ > kReadAhead;
  return !stalled_;
}

void Follower::ended(const CallStatus& status) {
  gathered_ = {};
  gathered_bytes_ = 0;
  bool over = false;
  {
    const std::lock_guard lock(mutex_);
    stream_.reset();
    stalled_ = false;
    over = over_.has_value();
  }
  if (!over && !shared_->cluster.stopping()) {
    if (!status.ok() && status.code != Code::kCancelled) {
      warn("a watch on etcd broke off, opening it again error=" + quoted(status.message));
    }
    connect_later();
  } else if (!over) {
    finish(stopped_status());
  }
}

void Follower::finish(Status why) {
  std::shared_ptr<Stream> stream;
  {
    const std::lock_guard lock(mutex_);
    if (over_) return;
    over_ = expired(why.message());
    waiting_.clear();
    stream = stream_;
    if (reader_) reader_->set(true);
  }
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->open.erase(this);
  }
  if (stream) stream->cancel();
  shared_->wire.at_once(alarm_.load());
}

Task<Result<EventBatch>> Follower::next() {
  for (;;) {
    Promise<bool> changed;
    std::shared_ptr<Stream> stalled;
    std::optional<Result<EventBatch>> found;
    {
      const std::lock_guard lock(mutex_);
      if (over_) {
        found = Status(*over_);
      } else if (!waiting_.empty()) {
        found = std::move(waiting_.front());
        waiting_.pop_front();
        if (waiting_.empty()) {
          waiting_bytes_ = 0;
          if (std::exchange(stalled_, false)) stalled = stream_;
        }
        reader_.reset();
      } else {
        reader_ = changed;
      }
    }
    if (stalled) stalled->resume();
    if (found) co_return std::move(*found);
    bool woken = co_await changed.future();
    (void)woken;
  }
}

// What the caller has; the follower lives on until its stream has ended.
class Handle final : public StorageWatch {
 public:
  explicit Handle(std::shared_ptr<Follower> follower) : follower_(std::move(follower)) {}
  ~Handle() override { follower_->cancel(); }
  Task<Result<EventBatch>> next() override { return follower_->next(); }
  void cancel() override { follower_->cancel(); }

 private:
  const std::shared_ptr<Follower> follower_;
};

}  // namespace

Watches::Watches(Cluster& cluster, WireThread& wire, Keys keys, std::string root, std::string fence, Logger* logger)
    : shared_(std::make_shared<Shared>(cluster, wire, std::move(keys), std::move(root), std::move(fence), logger)) {}
Watches::~Watches() = default;

std::unique_ptr<StorageWatch> Watches::open(std::string prefix, Revision after) {
  auto follower = std::make_shared<Follower>(shared_, std::move(prefix), after);
  follower->begin();
  return std::make_unique<Handle>(std::move(follower));
}

void Watches::ask_progress() {
  std::vector<std::shared_ptr<Follower>> open;
  {
    const std::lock_guard lock(shared_->mutex);
    for (Follower* follower : shared_->open) {
      if (auto alive = follower->weak_from_this().lock()) open.push_back(std::move(alive));
    }
  }
  for (const auto& follower : open) follower->ask_progress();
}

void Watches::use_fence(bool used) { shared_->fenced.store(used); }

Task<void> Watches::stop() {
  std::vector<std::shared_ptr<Follower>> open;
  Promise<bool> idle = shared_->idle;
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->stopped = true;
    for (Follower* follower : shared_->open) {
      if (auto alive = follower->weak_from_this().lock()) open.push_back(std::move(alive));
    }
    if (shared_->running == 0) idle.set(true);
  }
  for (const auto& follower : open) follower->cancel();
  bool ended = co_await idle.future();
  (void)ended;
}

}  // namespace backplane::etcd
