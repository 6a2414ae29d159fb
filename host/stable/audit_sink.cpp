#include "stable/audit_sink.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include "stable/call_threads.hpp"
#include "stable/conversions.hpp"

namespace backplane::stable {
namespace {

using std::chrono::milliseconds;

constexpr std::uint32_t kMostEvents = 10'000, kMostWritten = 400;
constexpr std::size_t kMostObjectBytes = std::size_t{64} << 20, kMostText = std::size_t{1} << 20;
// The pauses before further calls with the same events.
constexpr std::array kPauses{milliseconds(100), milliseconds(1000), milliseconds(5000)};
// After a call the thread checks once more for events, so that requests need not wake it: waking the thread is a request's largest cost.
constexpr milliseconds kPollInterval{5};

std::size_t object_bytes(const AuditEvent& event) noexcept { return event.request_object.size() + event.response_object.size(); }

class TablePolicy final : public AuditPolicy {
 public:
  explicit TablePolicy(const AuditDecision& decision) : decision_(decision) {}
  AuditDecision decide(const RequestView&) const override { return decision_; }

 private:
  const AuditDecision decision_;
};

}  // namespace

std::shared_ptr<const AuditPolicy> audit_policy_of(const bp_audit_sink& table) {
  static_assert(BP_AUDIT_METADATA == static_cast<int>(AuditLevel::kMetadata) &&
                BP_AUDIT_REQUEST_RESPONSE == static_cast<int>(AuditLevel::kRequestResponse));
  static_assert(BP_AUDIT_REQUEST_RECEIVED == 1 << static_cast<int>(AuditStage::kRequestReceived) &&
                BP_AUDIT_PANIC == 1 << static_cast<int>(AuditStage::kPanic));
  return std::make_shared<TablePolicy>(
      AuditDecision{static_cast<AuditLevel>(table.level), static_cast<std::uint8_t>(table.omit_stages), table.omit_managed_fields != 0});
}

TableAuditSink::TableAuditSink(const bp_audit_sink& table, Executor& thread, Logger& logger)
    : table_([&table] {
        bp_audit_sink own = table;
        if (own.most_events == 0) own.most_events = kMostEvents;
        if (own.most_written == 0) own.most_written = kMostWritten;
        return own;
      }()),
      name_(text(table.name)),
      thread_(thread),
      lost_(name_, logger),
      logger_(logger) {}

bool TableAuditSink::is_full(const AuditEvent& event) const noexcept {
  if (object_bytes(event) > 0 && object_bytes_.load(std::memory_order_relaxed) > kMostObjectBytes) return true;
  return events_.load(std::memory_order_relaxed) >= table_.most_events;
}

bool TableAuditSink::process(std::shared_ptr<const AuditEvent> event) noexcept {
  if (is_full(*event)) {
    if (table_.when_full == BP_AUDIT_WAIT) return false;
    lost_.add(1, "its queue is full", event.get());
    return true;
  }
  try {
    add({std::move(event), std::nullopt});
  } catch (const std::exception& error) {
    lost_.add(1, error.what(), nullptr);
  }
  return true;
}

// Events of requests that wait may exceed the limit of the queue: there is at most one for each request in progress.
Task<bool> TableAuditSink::store(std::shared_ptr<const AuditEvent> event) {
  Promise<bool> written;
  add({std::move(event), written});
  (void)co_await written.future();
  co_return true;
}

Task<void> TableAuditSink::flush() {
  Promise<bool> written;
  {
    const std::lock_guard lock(mutex_);
    flushes_.push_back(written);
    flushing_.store(true);
  }
  thread_.post([self = shared_from_this()] { self->run(); });
  (void)co_await written.future();
}

void TableAuditSink::add(Queued queued) {
  const std::size_t bytes = object_bytes(*queued.event);
  const bool awaited = queued.written.has_value();
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(queued));
    events_.fetch_add(1, std::memory_order_relaxed);
    object_bytes_.fetch_add(bytes, std::memory_order_relaxed);
    if (std::exchange(running_, true) && !awaited) return;
  }
  thread_.post([self = shared_from_this()] { self->run(); });
}

// ---- on the thread

void TableAuditSink::run() {
  bool any = false;
  while (take(any)) {
    any = true;
    if (!write_batch()) return;
  }
  if (flushing_.load()) {
    end_flushes();
  } else if (any) {
    thread_.after(kPollInterval, [self = shared_from_this()] { self->run(); });
  }
}

// Returns false if there are no events. `again`: run() will run once more after a pause, so new events need not wake the thread until then.
bool TableAuditSink::take(bool again) {
  if (!taken_.empty()) return true;
  const std::lock_guard lock(mutex_);
  queue_.swap(taken_);
  if (!taken_.empty()) return true;
  running_ = again;
  return false;
}

void TableAuditSink::encode_batch() {
  for (const Queued& each : taken_) {
    encoder_.append(text_, *each.event);
    ends_.push_back(text_.size());
    if (ends_.size() >= table_.most_written || text_.size() >= kMostText) break;
  }
}

// Returns false if the same events are written again after a pause.
bool TableAuditSink::write_batch() {
  if (ends_.empty()) encode_batch();
  std::vector<bp_str> events;
  std::size_t begin = 0;
  for (const std::size_t end : ends_) {
    events.push_back({text_.data() + begin, end - begin});
    begin = end;
  }
  const CallScope scope(CallPlace::kRequest);
  bp_error error{};
  if (table_.write(table_.self, events.data(), events.size(), &error) != 0) {
    const Status status = status_of(error);
    const bool again = status.reason() == Reason::kServiceUnavailable || status.code() == 503;
    if (again && attempts_ < kPauses.size() && !flushing_.load()) {
      thread_.after(kPauses[attempts_++], [self = shared_from_this()] { self->run(); });
      return false;
    }
    lost_.add(events.size(), status.message(), taken_.front().event.get());
  }
  release_batch();
  return true;
}

void TableAuditSink::release_batch() {
  for (std::size_t i = 0; i < ends_.size(); ++i) {
    const Queued& each = taken_.front();
    object_bytes_.fetch_sub(object_bytes(*each.event), std::memory_order_relaxed);
    if (each.written) each.written->set(true);
    taken_.pop_front();
  }
  events_.fetch_sub(ends_.size(), std::memory_order_relaxed);
  ends_.clear();
  text_.clear();
  if (text_.capacity() > 2 * kMostText) text_.shrink_to_fit();
  attempts_ = 0;
}

void TableAuditSink::end_flushes() {
  if (table_.flush != nullptr && !std::exchange(flushed_, true)) {
    const CallScope scope(CallPlace::kRequest);
    bp_error error{};
    if (table_.flush(table_.self, &error) != 0) logger_.error("audit sink '" + name_ + "': flush: " + status_of(error).message());
  }
  std::vector<Promise<bool>> ended;
  {
    const std::lock_guard lock(mutex_);
    ended.swap(flushes_);
  }
  for (const Promise<bool>& each : ended) each.set(true);
}

}  // namespace backplane::stable
