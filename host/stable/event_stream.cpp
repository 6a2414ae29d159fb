#include "stable/event_stream.hpp"

#include <utility>

#include "stable/conversions.hpp"
#include "stable/opened_store.hpp"
#include "stable/store_answer.hpp"

using backplane::EventBatch;
using backplane::Promise;
using backplane::Result;
using backplane::Revision;
using backplane::Status;
using backplane::StorageEvent;

namespace {

// A batch that exceeds the limits is accepted if the queue is empty, so that a batch of any size can be delivered.
constexpr std::size_t kMostEvents = 4096, kMostBytes = std::size_t{8} << 20;

Status cancelled() { return backplane::expired("the watch has ended"); }

}  // namespace

bp_event_stream::bp_event_stream(std::shared_ptr<backplane::stable::OpenedStore> store, std::string prefix, Revision after)
    : store_(std::move(store)), prefix_(std::move(prefix)), after_(after), last_(after) {}

// ---- the plugin's side

void bp_event_stream::add(const bp_store_event& given) {
  const bp_store_event event = backplane::stable::copy_of(&given);
  StorageEvent added;
  if (event.item != nullptr) added.kv = backplane::stable::key_value_of(*event.item);
  if (event.removed != 0) {
    added.type = StorageEvent::Type::kDelete;
    added.kv = {std::move(added.kv.key), {}, 0, added.kv.mod_revision, 0};
  }
  added.previous = backplane::stable::bytes_of(event.previous);
  added.previous_revision = event.previous_revision;
  const std::lock_guard lock(mutex_);
  if (event.item == nullptr) adding_nothing_ = true;
  adding_bytes_ += added.kv.key.size() + added.kv.value.size() + added.previous.size();
  adding_.events.push_back(std::move(added));
}

Status bp_event_stream::check(const EventBatch& batch) const {
  const auto wrong = [this](const std::string& what) {
    return backplane::internal_error("the storage backend " + backplane::quoted(store_->name) + " has pushed " + what);
  };
  if (adding_nothing_) return wrong("an event without a key");
  Revision at = last_ + 1;
  for (const StorageEvent& event : batch.events) {
    if (event.kv.mod_revision < at) return wrong("revision " + std::to_string(event.kv.mod_revision) + " late or in parts");
    if (!event.kv.key.starts_with(prefix_)) return wrong("a key that is not watched");
    at = event.kv.mod_revision;
  }
  if (at > batch.revision && !batch.events.empty()) return wrong("a batch whose revision is less than that of its events");
  return {};
}

int32_t bp_event_stream::queue_batch(EventBatch batch, std::size_t bytes) {
  if (cancelled_ || ended_) return BP_ENDED;
  if (Status wrong = check(batch); !wrong.ok()) {
    ended_ = std::move(wrong);
    return BP_ENDED;
  }
  if (batch.events.empty()) {
    if (batch.revision <= last_) return BP_PUSHED;
    last_ = batch.revision;
    if (queue_.empty()) {
      queue_.push_back({std::move(batch), 0});
    } else {
      queue_.back().batch.revision = last_;
    }
    return BP_PUSHED;
  }
  if (!queue_.empty() && (queued_events_ >= kMostEvents || queued_bytes_ >= kMostBytes)) {
    full_ = true;
    return BP_FULL;
  }
  last_ = batch.revision;
  queued_events_ += batch.events.size();
  queued_bytes_ += bytes;
  queue_.push_back({std::move(batch), bytes});
  return BP_PUSHED;
}

int32_t bp_event_stream::push(Revision revision) {
  std::unique_lock lock(mutex_);
  EventBatch batch = std::exchange(adding_, {});
  batch.revision = revision;
  const int32_t answer = queue_batch(std::move(batch), std::exchange(adding_bytes_, 0));
  const auto waiter = take_waiter();
  lock.unlock();
  if (waiter) waiter->set(true);
  return answer;
}

void bp_event_stream::end(Status why) {
  std::unique_lock lock(mutex_);
  if (!ended_) ended_ = why.ok() ? cancelled() : std::move(why);
  const auto waiter = take_waiter();
  lock.unlock();
  if (waiter) waiter->set(true);
}

// ---- the host's side

void bp_event_stream::open() {
  const std::lock_guard lock(mutex_);
  open_wanted_ = true;
  schedule();
}

void bp_event_stream::end_unopened(Status why) {
  std::unique_lock lock(mutex_);
  if (watch_ != nullptr || ended_ || cancelled_) return;
  ended_ = std::move(why);
  const auto waiter = take_waiter();
  lock.unlock();
  if (waiter) waiter->set(true);
}

// Returns the waiter if take() would return a result.
std::optional<Promise<bool>> bp_event_stream::take_waiter() {
  if (queue_.empty() && !ended_ && !cancelled_) return std::nullopt;
  return std::exchange(waiter_, std::nullopt);
}

EventBatch bp_event_stream::unqueue() {
  Queued first = std::move(queue_.front());
  queue_.pop_front();
  queued_events_ -= first.batch.events.size();
  queued_bytes_ -= first.bytes;
  if (full_ && queued_events_ <= kMostEvents / 2 && queued_bytes_ <= kMostBytes / 2) {
    full_ = false;
    more_wanted_ = true;
    schedule();
  }
  return std::move(first.batch);
}

std::optional<Result<EventBatch>> bp_event_stream::take(const Promise<bool>& woken) {
  const std::lock_guard lock(mutex_);
  if (cancelled_) return Result<EventBatch>(cancelled());
  if (!queue_.empty()) return Result<EventBatch>(unqueue());
  if (ended_) return Result<EventBatch>(*ended_);
  waiter_ = woken;
  return std::nullopt;
}

void bp_event_stream::cancel() {
  std::unique_lock lock(mutex_);
  if (std::exchange(cancelled_, true)) return;
  queue_.clear();
  queued_events_ = queued_bytes_ = 0;
  schedule();
  const auto waiter = take_waiter();
  lock.unlock();
  if (waiter) waiter->set(true);
}

// ---- calls of the plugin

void bp_event_stream::schedule() {
  if (stepping_ || forgotten_) return;
  stepping_ = store_->threads.post([self = shared_from_this()] { self->run_steps(); });
}

bp_event_stream::Step bp_event_stream::next_step() {
  if (cancelled_ && !forgotten_) {
    forgotten_ = true;
    return watch_ != nullptr ? Step::kCancel : Step::kForget;
  }
  if (!cancelled_ && std::exchange(open_wanted_, false)) return Step::kOpen;
  if (!cancelled_ && watch_ != nullptr && std::exchange(more_wanted_, false)) return Step::kMore;
  stepping_ = false;
  return Step::kNone;
}

void bp_event_stream::run_steps() {
  while (true) {
    std::unique_lock lock(mutex_);
    const Step step = next_step();
    lock.unlock();
    if (step == Step::kNone) return;
    if (step == Step::kOpen) call_watch();
    if (step == Step::kMore) store_->table.more(store_->handle, watch_);
    if (step == Step::kCancel) store_->table.cancel(store_->handle, watch_);
    if (step == Step::kCancel || step == Step::kForget) store_->forget(shared_from_this());
  }
}

void bp_event_stream::call_watch() {
  bp_error error{};
  void* const opened = store_->table.watch(store_->handle, backplane::stable::str(prefix_), after_, this, &error);
  if (opened == nullptr) end(backplane::stable::status_of(error));
  const std::lock_guard lock(mutex_);
  watch_ = opened;
}

namespace backplane::stable {

Task<Result<EventBatch>> TableWatch::next() {
  while (true) {
    const Promise<bool> woken;
    auto taken = stream_->take(woken);
    if (taken) co_return std::move(*taken);
    auto waiting = woken.future();
    co_await waiting;
  }
}

}  // namespace backplane::stable
