#include "webhook_sink.hpp"

#include <algorithm>

#include "backplane/core/task_set.hpp"

namespace backplane::audit {
namespace {

using Clock = std::chrono::steady_clock;

// The maximum number of batches that are sent at the same time. Further events stay in the queue.
constexpr std::size_t kMostSending = 64;
// The time limit of calls at shutdown. The host waits ten seconds.
constexpr std::chrono::seconds kFlushTime{8};
constexpr std::chrono::nanoseconds kForever = std::chrono::hours(24);

}  // namespace

WebhookSink::WebhookSink(const WebhookSettings& settings, std::shared_ptr<WebhookPoster> poster, Executor& executor, Logger& logger)
    : settings_(settings),
      poster_(std::move(poster)),
      executor_(executor),
      lost_("webhook", logger),
      dropped_("buffered", logger),
      too_large_("truncate", logger),
      tokens_(settings.batch.burst) {}

bool WebhookSink::process(std::shared_ptr<const AuditEvent> event) noexcept {
  if (settings_.batch.mode != Mode::kBatch) return false;
  if (queue_.size() >= settings_.batch.buffer_size || flushing_.load(std::memory_order_relaxed)) {
    const bool stopped = flushing_.load(std::memory_order_relaxed);
    dropped_.add(1, stopped ? "audit backend shut down" : "audit buffer queue blocked", event.get());
    return true;
  }
  try {
    // Wakes run() for an event that enters an empty queue, because the time limit of a batch begins, and each time the queue has enough
    // events for another batch.
    const std::size_t count = queue_.push(std::move(event));
    if (!running_.load() && !running_.exchange(true)) spawn_detached(executor_, run());
    if (count == 1 || count % settings_.batch.max_events == 0) end_wait();
  } catch (const std::exception& error) {
    lost_.add(1, error.what(), nullptr);
  }
  return true;
}

Task<bool> WebhookSink::store(std::shared_ptr<const AuditEvent> event) {
  const auto alive = shared_from_this();
  co_await resume_on(executor_);
  Events events;
  events.push_back(std::move(event));
  auto sending = send(std::move(events));
  const bool sent = co_await std::move(sending);
  co_return sent || settings_.batch.mode == Mode::kBlocking;
}

Task<void> WebhookSink::flush() {
  const auto alive = shared_from_this();
  flushing_.store(true);
  poster_->abort_retries(executor_, kFlushTime);
  if (!running_.load()) co_return;
  co_await resume_on(executor_);
  if (ended_) co_return;
  Promise<bool> flushed;
  flushes_.push_back(flushed);
  end_wait();
  (void)co_await flushed.future();
}

void WebhookSink::end_wait() {
  const std::lock_guard lock(mutex_);
  rung_ = true;
  wait_end_.set(true);
}

Task<bool> WebhookSink::wait_for_ring(std::chrono::nanoseconds limit) {
  Promise<bool> wait_end;
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(rung_, false)) co_return true;
    wait_end_ = wait_end;
  }
  auto waiting = within(limit, wait_end, false);
  const bool rung = co_await std::move(waiting);
  const std::lock_guard lock(mutex_);
  rung_ = false;
  co_return rung;
}

void WebhookSink::collect() {
  for (auto& each : queue_.take()) ready_.push_back(std::move(each));
}

Task<void> WebhookSink::run() {
  const auto alive = shared_from_this();
  auto until = Clock::time_point::max();  // when a batch that is not full is sent
  bool due = false;                       // the batch must be sent now
  while (!flushing_.load() || !ready_.empty() || !queue_.empty()) {
    collect();
    if (until == Clock::time_point::max() && !ready_.empty()) until = Clock::now() + settings_.batch.max_wait;
    due = due || flushing_.load();
    if (ready_.size() >= settings_.batch.max_events || (due && !ready_.empty())) {
      until = Clock::time_point::max();
      due = false;
      auto waiting = throttle();
      co_await std::move(waiting);
      const auto count = static_cast<std::ptrdiff_t>(std::min(ready_.size(), settings_.batch.max_events));
      send_detached(Events(ready_.begin(), ready_.begin() + count));
      ready_.erase(ready_.begin(), ready_.begin() + count);
      queue_.release(static_cast<std::size_t>(count));
      continue;
    }
    if (flushing_.load()) continue;
    const auto limit =
        until == Clock::time_point::max() ? kForever : std::chrono::nanoseconds(std::max(until - Clock::now(), Clock::duration::zero()));
    auto ringing = wait_for_ring(limit);
    const bool rung = co_await std::move(ringing);
    due = !rung && until != Clock::time_point::max();
  }
  while (sending_ > 0) {
    one_sent_.emplace();
    const auto sent = *one_sent_;
    (void)co_await sent.future();
  }
  ended_ = true;
  for (const Promise<bool>& each : flushes_) each.set(true);
}

Task<void> WebhookSink::throttle() {
  while (sending_ >= kMostSending) {
    one_sent_.emplace();
    const auto sent = *one_sent_;
    (void)co_await sent.future();
  }
  if (!settings_.batch.throttle || flushing_.load()) co_return;
  const auto now = Clock::now();
  const double seconds = std::chrono::duration<double>(now - refilled_).count();
  tokens_ = std::min(static_cast<double>(settings_.batch.burst), tokens_ + seconds * settings_.batch.qps) - 1;
  refilled_ = now;
  if (tokens_ >= 0) co_return;
  auto waiting =
      sleep_for(std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(-tokens_ / settings_.batch.qps)));
  co_await std::move(waiting);
}

void WebhookSink::send_detached(Events events) {
  ++sending_;
  const auto self = shared_from_this();
  spawn_detached(executor_, send_batch(self, std::move(events)));
}

Task<void> WebhookSink::send_batch(std::shared_ptr<WebhookSink> self, Events events) {
  auto sending = self->send(std::move(events));
  (void)co_await std::move(sending);
  co_await resume_on(self->executor_);
  --self->sending_;
  if (self->one_sent_) std::exchange(self->one_sent_, std::nullopt)->set(true);
}

Task<bool> WebhookSink::send(Events events) {
  Events sent;
  std::string body;
  std::string problem;
  try {
    body = event_list(events, sent);
  } catch (const std::exception& error) {
    problem = error.what();
  }
  if (problem.empty() && sent.empty()) co_return true;  // dropped because they are too large
  if (problem.empty()) {
    try {
      auto posting = poster_->post(std::move(body));
      const Status status = co_await std::move(posting);
      if (status.ok()) co_return true;
      problem = status.message();
    } catch (const std::exception& error) {
      problem = error.what();
    }
  }
  lost_.add(sent.empty() ? events.size() : sent.size(), problem, events.front().get());
  co_return false;
}

// Encodes a list of the events, without those that are too large. Adds the events of the list to `sent`.
std::string WebhookSink::event_list(const Events& events, Events& sent) {
  std::string out(kit::kAuditEventListHead);
  const TruncateSettings& limit = settings_.truncate;
  for (const auto& event : events) {
    const std::size_t begin = out.size();
    if (!sent.empty()) out.push_back(',');
    const std::size_t item = out.size();
    const auto size = [&] { return out.size() - item + kit::AuditEventEncoder::size_over_item(); };
    encoder_.append_item(out, *event);
    if (limit.enabled && size() > limit.max_event_bytes && event->level >= AuditLevel::kRequest) {
      out.resize(item);
      encoder_.append_item(out, *event, true);
    }
    if (limit.enabled && size() > limit.max_event_bytes) {
      out.resize(begin);
      too_large_.add(1, "event is too large even after truncating", event.get());
      continue;
    }
    sent.push_back(event);
  }
  out.append(kit::kAuditEventListTail);
  return out;
}

}  // namespace backplane::audit
