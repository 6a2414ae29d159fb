#include "watches.hpp"

#include <algorithm>
#include <deque>
#include <optional>

#include "backplane/points/storage_feed.hpp"
#include "calls.hpp"

namespace backplane::etcd {
namespace {

constexpr std::size_t kReadAhead = 16 * 1024 * 1024;  // the limit of the size of events that are queued for next()
constexpr std::chrono::milliseconds kFirstPause{50}, kLongestPause{2'000};

class Follower;

}  // namespace

struct Watches::Shared {
  Shared(Cluster& cluster_in, Executor& executor_in, Keys keys_in, std::string root_in, std::string fence_in, Logger* logger_in)
      : cluster(cluster_in),
        executor(executor_in),
        keys(std::move(keys_in)),
        root(std::move(root_in)),
        root_end(prefix_end(root)),
        fence(std::move(fence_in)),
        logger(logger_in) {}

  Cluster& cluster;
  Executor& executor;
  const Keys keys;
  const std::string root, root_end, fence;
  Logger* const logger;
  std::atomic<bool> fenced{false};
  std::mutex mutex;
  std::set<Follower*> open;
  bool stopped = false;
  std::size_t running = 0;  // the number of Followers whose run() has not ended
  Promise<bool> idle;

  // Registers a Follower, for which stop() then waits. False: stop() has been called.
  bool enter(Follower& follower) {
    const std::lock_guard lock(mutex);
    if (stopped) return false;
    ++running;
    open.insert(&follower);
    return true;
  }
  void leave() {
    const std::lock_guard lock(mutex);
    if (--running == 0 && stopped) idle.set(true);
  }
  std::vector<std::shared_ptr<Follower>> followers();
};

namespace {

using Shared = Watches::Shared;
using grpc::Stream;

// A watch: its stream, and the received events that next() has not returned yet.
class Follower final : public std::enable_shared_from_this<Follower> {
 public:
  Follower(std::shared_ptr<Shared> shared, std::string prefix, Revision after)
      : shared_(std::move(shared)), prefix_(std::move(prefix)), reached_(after) {}

  void begin() {
    if (!shared_->enter(*this)) return finish(stopped_status());
    spawn_detached(shared_->executor, run(shared_from_this()));
  }
  void cancel() { finish(expired("the watch has ended")); }
  // Sends a progress request on the stream. Called on the executor.
  Task<void> ask_progress();
  // Ends the pause before the next stream.
  void end_pause();
  Task<Result<EventBatch>> next();

 private:
  static Task<void> run(std::shared_ptr<Follower> self);
  Task<void> follow();
  Task<void> read_stream(std::shared_ptr<Stream> stream, CallStatus& status);
  Task<void> pause();
  Task<void> wait_for_room();
  Task<void> check_history(std::shared_ptr<Stream> stream);
  bool use_stream(std::shared_ptr<Stream> stream);
  void received(etcdserverpb::WatchResponse& response, Stream& stream);
  void finish(Status why);
  bool is_over() {
    const std::lock_guard lock(mutex_);
    return over_.has_value();
  }
  void deliver(EventBatch batch, std::size_t bytes);
  void collect(etcdserverpb::WatchResponse& response);
  bool concerns(std::string_view key) const { return key.starts_with(prefix_); }
  etcdserverpb::WatchRequest first_request(Revision after) const;
  void warn(const std::string& text) const {
    if (shared_->logger != nullptr) shared_->logger->warn(text);
  }

  const std::shared_ptr<Shared> shared_;
  const std::string prefix_;  // in the host's keys
  std::mutex mutex_;
  std::shared_ptr<Stream> stream_;
  std::deque<EventBatch> waiting_;
  std::size_t waiting_bytes_ = 0;
  std::optional<Promise<bool>> reader_, room_, paused_;
  std::optional<Status> over_;
  // The members below are used on the executor only.
  Revision reached_;     // all events up to this revision have been queued; initially the start revision, which may be in the future
  Revision seen_ = 0;    // the newest revision that has been received
  EventBatch gathered_;  // the events of a response that arrives in several parts
  std::size_t gathered_bytes_ = 0;
  std::chrono::milliseconds pause_ = kFirstPause;
  bool asking_ = false;  // a request for progress is being written
  etcdserverpb::WatchResponse response_;
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

Task<void> Follower::run(std::shared_ptr<Follower> self) {
  const auto shared = self->shared_;
  while (!self->is_over() && !shared->cluster.stopping()) {
    auto following = self->follow();
    co_await std::move(following);
    if (self->is_over() || shared->cluster.stopping()) break;
    auto pausing = self->pause();
    co_await std::move(pausing);
  }
  self->finish(stopped_status());
  self.reset();
  shared->leave();
}

// Sets the stream. False: the watch has been cancelled, so the stream is not needed.
bool Follower::use_stream(std::shared_ptr<Stream> stream) {
  const std::lock_guard lock(mutex_);
  if (!over_) stream_ = std::move(stream);
  return !over_;
}

// Opens a stream and reads it to its end.
Task<void> Follower::follow() {
  const Server& server = shared_->cluster.server();
  grpc::CallOptions options;
  options.metadata.emplace_back("hasleader", "true");
  options.max_message_bytes = kMaxMessage;
  CallCounts& counts = shared_->cluster.counts();
  counts.started(kWatchMethod);
  counts.sent(kWatchMethod);
  const auto stream = grpc::open_stream(server.client, std::string(kWatchMethod.path), std::move(options));
  auto writing = stream->write(first_request(reached_).SerializeAsString());
  const bool written = co_await std::move(writing);
  static_cast<void>(written);  // if the write has failed, read() returns the reason
  CallStatus status(Code::kCancelled, "the watch has ended");
  if (use_stream(stream)) {
    auto reading = read_stream(stream, status);
    co_await std::move(reading);
    const std::lock_guard lock(mutex_);
    stream_.reset();
  }
  gathered_ = {};
  gathered_bytes_ = 0;
  if (status.code == Code::kUnavailable) shared_->cluster.use_next_server(server);
  counts.handled(kWatchMethod, status);
  const bool wanted = !is_over() && !shared_->cluster.stopping();
  if (wanted && !status.ok() && status.code != Code::kCancelled) {
    warn("a watch on etcd broke off, opening it again error=" + backplane::quoted(status.message));
  }
}

Task<void> Follower::read_stream(std::shared_ptr<Stream> stream, CallStatus& status) {
  for (;;) {
    auto reading = stream->read();
    const std::optional<std::string> message = co_await std::move(reading);
    if (!message) {
      status = stream->status();
      co_return;
    }
    shared_->cluster.counts().received(kWatchMethod);
    shared_->cluster.note_answer();
    if (!response_.ParseFromString(*message)) {
      warn("a watch response of etcd is malformed, reopening the watch");
      co_return;  // `status` remains kCancelled
    }
    const bool stale = response_.created() && !response_.canceled() && response_.header().revision() < seen_;
    received(response_, *stream);
    if (stale) {
      auto checking = check_history(stream);
      co_await std::move(checking);
    }
    auto waiting = wait_for_room();
    co_await std::move(waiting);
  }
}

// If too many bytes are queued for next(), waits until next() has returned all queued events.
Task<void> Follower::wait_for_room() {
  Promise<bool> room;
  {
    const std::lock_guard lock(mutex_);
    if (over_ || waiting_bytes_ <= kReadAhead) co_return;
    room_ = room;
  }
  const bool there = co_await room.future();
  static_cast<void>(there);
}

Task<void> Follower::pause() {
  Promise<bool> ended;
  {
    const std::lock_guard lock(mutex_);
    if (over_) co_return;
    paused_ = ended;
  }
  const auto cancel = current_executor()->after(pause_, [ended] { ended.set(true); });
  pause_ = std::min(pause_ * 2, kLongestPause);
  const bool woken = co_await ended.future();
  static_cast<void>(woken);
  cancel();
  const std::lock_guard lock(mutex_);
  paused_.reset();
}

void Follower::end_pause() {
  const std::lock_guard lock(mutex_);
  if (paused_) paused_->set(true);
}

Task<void> Follower::ask_progress() {
  std::shared_ptr<Stream> stream;
  {
    const std::lock_guard lock(mutex_);
    stream = stream_;
  }
  if (stream == nullptr || asking_) co_return;
  etcdserverpb::WatchRequest request;
  request.mutable_progress_request();
  shared_->cluster.counts().sent(kWatchMethod);
  asking_ = true;
  auto writing = stream->write(request.SerializeAsString());
  const bool written = co_await std::move(writing);
  static_cast<void>(written);
  asking_ = false;
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

// Called if a server has reported an older revision than seen_. Only this server may lag, so the cluster's revision is read: if it is
// older, too, etcd has lost data, and the watch ends.
Task<void> Follower::check_history(std::shared_ptr<Stream> stream) {
  pb::RangeRequest request;
  request.set_key(shared_->root);
  request.set_count_only(true);
  auto asking = shared_->cluster.call<RangeCall>(std::move(request), /*reads=*/true);
  const auto answer = co_await std::move(asking);
  if (!answer.ok()) {
    stream->cancel();  // the check is repeated when the stream is reopened
    co_return;
  }
  const Revision newest = answer->header().revision();
  if (newest >= seen_) co_return;
  warn("etcd's history has gone back from=" + std::to_string(seen_) + " to=" + std::to_string(newest));
  finish(expired("the history of the store has gone back"));
}

void Follower::received(etcdserverpb::WatchResponse& response, Stream& stream) {
  if (response.canceled()) {
    if (response.compact_revision() > 0) return finish(compacted_status());
    // The server has ended the watch (it is starting, or its certificate authority has changed). Cancels the stream, so that it is
    // reopened.
    warn("etcd ended a watch, asking again reason=" + backplane::quoted(response.cancel_reason()));
    return stream.cancel();
  }
  pause_ = kFirstPause;
  if (response.created()) return;
  collect(response);
  if (response.fragment()) return;
  // A response without events is a progress notification: everything up to the revision in its header has been sent.
  if (response.events_size() == 0 && gathered_.events.empty()) {
    gathered_.revision = std::max<Revision>(gathered_.revision, response.header().revision());
  }
  EventBatch batch = std::exchange(gathered_, {});
  seen_ = std::max(seen_, batch.revision);
  if (batch.revision <= reached_ && batch.events.empty()) batch.revision = reached_;
  reached_ = std::max(reached_, batch.revision);
  deliver(std::move(batch), std::exchange(gathered_bytes_, 0));
}

void Follower::deliver(EventBatch batch, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (over_) return;
  // A new batch replaces a progress notification at the end of the queue, if the batch is a progress notification, too.
  if (batch.events.empty() && !waiting_.empty() && waiting_.back().events.empty()) waiting_.pop_back();
  waiting_.push_back(std::move(batch));
  waiting_bytes_ += bytes;
  if (reader_) reader_->set(true);
}

void Follower::finish(Status why) {
  std::shared_ptr<Stream> stream;
  {
    const std::lock_guard lock(mutex_);
    if (over_) return;
    over_ = expired(why.message());
    waiting_.clear();
    stream = stream_;
    for (const auto* each : {&reader_, &room_, &paused_}) {
      if (*each) (*each)->set(true);
    }
  }
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->open.erase(this);
  }
  if (stream) stream->cancel();
}

Task<Result<EventBatch>> Follower::next() {
  for (;;) {
    Promise<bool> changed;
    std::optional<Result<EventBatch>> found;
    {
      const std::lock_guard lock(mutex_);
      if (over_) {
        found = Status(*over_);
      } else if (!waiting_.empty()) {
        found = std::move(waiting_.front());
        waiting_.pop_front();
        reader_.reset();
        if (waiting_.empty()) waiting_bytes_ = 0;
        if (waiting_.empty() && room_) std::exchange(room_, std::nullopt)->set(true);
      } else {
        reader_ = changed;
      }
    }
    if (found) co_return std::move(*found);
    const bool woken = co_await changed.future();
    static_cast<void>(woken);
  }
}

// The watch object of the caller; its destructor cancels the Follower, which lives until its stream has ended.
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

std::vector<std::shared_ptr<Follower>> Watches::Shared::followers() {
  std::vector<std::shared_ptr<Follower>> out;
  const std::lock_guard lock(mutex);
  for (Follower* follower : open) {
    if (auto alive = follower->weak_from_this().lock()) out.push_back(std::move(alive));
  }
  return out;
}

Watches::Watches(Cluster& cluster, Executor& executor, Keys keys, std::string root, std::string fence, Logger* logger)
    : shared_(std::make_shared<Shared>(cluster, executor, std::move(keys), std::move(root), std::move(fence), logger)) {
  // When a server can be reached again, all watches are reopened immediately, because consistent reads wait for their progress.
  cluster.when_reached([shared = std::weak_ptr<Shared>(shared_)] {
    const auto alive = shared.lock();
    if (alive == nullptr) return;
    for (const auto& follower : alive->followers()) follower->end_pause();
  });
}
Watches::~Watches() = default;

std::unique_ptr<StorageWatch> Watches::open(std::string prefix, Revision after) {
  auto follower = std::make_shared<Follower>(shared_, std::move(prefix), after);
  follower->begin();
  return std::make_unique<Handle>(std::move(follower));
}

namespace {

Task<void> ask_all(std::shared_ptr<Shared> shared) {
  for (const auto& follower : shared->followers()) {
    auto asking = follower->ask_progress();
    co_await std::move(asking);
  }
}

}  // namespace

void Watches::ask_progress() { spawn_detached(shared_->executor, ask_all(shared_)); }

void Watches::use_fence(bool used) { shared_->fenced.store(used); }

Task<void> Watches::stop() {
  const Promise<bool> idle = shared_->idle;
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->stopped = true;
    if (shared_->running == 0) idle.set(true);
  }
  for (const auto& follower : shared_->followers()) follower->cancel();
  const bool ended = co_await idle.future();
  static_cast<void>(ended);
}

}  // namespace backplane::etcd
