#include "log_sink.hpp"

#include <algorithm>

#include "event_text.hpp"

namespace backplane::audit {
namespace {

// Blocking modes: a request waits while so much is queued.
constexpr std::size_t kMostBlockingEvents = 4096;
constexpr std::size_t kMostQueuedBytes = std::size_t{64} << 20;
// Lines are written together up to this size.
constexpr std::size_t kWriteBytes = std::size_t{256} << 10;
// While events keep coming, the writer looks again after this time.  Events of the stage RequestReceived do not wake it before, nor do
// others if more than kBusy, those of one request, came in the last period: waking it costs a request more than all else.
constexpr std::chrono::milliseconds kLater{5};
constexpr std::size_t kBusy = 2;
// More than the events of one request.
constexpr std::size_t kFreedAtOnce = 4;
// A queue that fills wakes it all the same.
constexpr std::size_t kManyEvents = 512;

std::size_t object_bytes(const AuditEvent& event) noexcept { return event.request_object.size() + event.response_object.size(); }

}  // namespace

struct LogSink::Batch {
  std::vector<QueuedEvent> events;
  std::vector<bool> stored;
  std::vector<std::size_t> ends, indexes;  // of the lines in the buffer
};

// Events that have been written.
struct LogSink::Written {
  std::vector<QueuedEvent> events;
  std::unique_ptr<Written> older;
};

LogSink::LogSink(const LogSettings& settings, Executor& writer, Executor& tender, Logger& logger)
    : settings_(settings),
      writer_(writer),
      tender_(tender),
      lost_("log", logger),
      dropped_("buffered", logger),
      too_large_("truncate", logger),
      logger_(logger),
      file_(settings.file) {}

LogSink::~LogSink() {
  // (Each list is destroyed before the next.)
  for (std::unique_ptr<Written> all(freed_by_requests_.load()); all != nullptr;) all = std::move(all->older);
}

// Requests have allocated the events, so requests free them: the writer would take turns with them at the allocator's lock.  A few at a
// time, so that the thread's cache of free memory takes them.
void LogSink::free_some_written() noexcept {
  if (freed_by_requests_.load(std::memory_order_relaxed) == nullptr) return;
  std::unique_ptr<Written> some(freed_by_requests_.exchange(nullptr, std::memory_order_acquire));
  for (std::size_t i = 0; i < kFreedAtOnce && some != nullptr; ++i) {
    some->events.pop_back();
    if (some->events.empty()) some = std::move(some->older);
  }
  if (some != nullptr) leave_to_requests(std::move(some));
}

void LogSink::leave_to_requests(std::unique_ptr<Written> written) noexcept {
  for (Written* none = nullptr; !freed_by_requests_.compare_exchange_weak(none, written.get(), std::memory_order_acq_rel); none = nullptr) {
    std::unique_ptr<Written> others(freed_by_requests_.exchange(nullptr, std::memory_order_acquire));
    if (others == nullptr) continue;
    Written* last = others.get();
    while (last->older != nullptr) last = last->older.get();
    last->older = std::move(written);
    written = std::move(others);
  }
  (void)written.release();
}

bool LogSink::is_full(const AuditEvent& event) const noexcept {
  const bool batch = settings_.batch.mode == Mode::kBatch;
  const std::size_t bytes = object_bytes(event);
  if (bytes > 0 && queued_bytes_.load(std::memory_order_relaxed) > kMostQueuedBytes) return true;
  return queue_.size() >= (batch ? settings_.batch.buffer_size : kMostBlockingEvents);
}

bool LogSink::process(std::shared_ptr<const AuditEvent> event) noexcept {
  free_some_written();
  const bool received = event->stage == AuditStage::kRequestReceived;
  if (settings_.batch.mode == Mode::kBlockingStrict && received) return false;
  if (is_full(*event)) {
    if (settings_.batch.mode != Mode::kBatch) return false;
    dropped_.add(1, "audit buffer queue blocked", event.get());
    return true;
  }
  try {
    const std::size_t count = queue({std::move(event)});
    const bool many = count >= std::min(kManyEvents, settings_.batch.buffer_size / 2);
    wake(!many && (received || busy_.load(std::memory_order_relaxed)));
  } catch (const std::exception& error) {
    lost_.add(1, error.what(), nullptr);
  }
  return true;
}

Task<bool> LogSink::store(std::shared_ptr<const AuditEvent> event) {
  free_some_written();
  Promise<bool> written;
  queue({std::move(event), written});
  wake(false);
  const bool stored = co_await written.future();
  co_return stored || settings_.batch.mode != Mode::kBlockingStrict;
}

Task<void> LogSink::flush() {
  Promise<bool> written;
  queue({nullptr, written});
  wake(false);
  (void)co_await written.future();
}

std::size_t LogSink::queue(QueuedEvent event) {
  if (event.event != nullptr) queued_bytes_.fetch_add(object_bytes(*event.event), std::memory_order_relaxed);
  return queue_.push(std::move(event));
}

void LogSink::wake(bool can_wait) noexcept {
  if (can_wait && later_.load(std::memory_order_seq_cst)) return;
  if (awake_.load(std::memory_order_seq_cst) || awake_.exchange(true, std::memory_order_seq_cst)) return;
  writer_.post([self = shared_from_this()] { self->drain(); });
}

// A push after the exchange finds awake_ false and posts another call; one before it is taken here.
void LogSink::drain() {
  bool any = false;
  do {
    for (auto events = queue_.take(); !events.empty(); events = queue_.take()) {
      any = true;
      written_ += events.size();
      write_events(std::move(events));
    }
    awake_.store(false, std::memory_order_seq_cst);
  } while (!queue_.empty() && !awake_.exchange(true, std::memory_order_seq_cst));
  if (any) drain_later();
}

void LogSink::drain_later() {
  if (later_.exchange(true, std::memory_order_seq_cst)) return;
  writer_.after(kLater, [self = shared_from_this()] {
    self->later_.store(false, std::memory_order_seq_cst);
    self->drain();
    self->busy_.store(std::exchange(self->written_, 0) > kBusy, std::memory_order_relaxed);
  });
}

void LogSink::write_events(std::vector<QueuedEvent> events) {
  Batch batch;
  batch.events = std::move(events);
  batch.stored.resize(batch.events.size());
  Status opened = file_.open();
  if (opened.ok()) {
    for (std::size_t i = 0; i < batch.events.size(); ++i) {
      if (batch.events[i].event == nullptr) {
        write_lines(batch);
        file_.sync();
      } else if (append_line(batch, i) && buffer_.size() >= kWriteBytes) {
        write_lines(batch);
      }
    }
    write_lines(batch);
  } else {
    lost_.add(batch.events.size(), opened.message(), batch.events.front().event.get());
  }
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < batch.events.size(); ++i) {
    if (batch.events[i].event != nullptr) bytes += object_bytes(*batch.events[i].event);
    if (batch.events[i].stored) batch.events[i].stored->set(batch.stored[i]);
  }
  queued_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
  queue_.release(batch.events.size());
  if (bytes > 0) return;
  auto written = std::make_unique<Written>();
  written->events = std::move(batch.events);
  leave_to_requests(std::move(written));
}

// False: the event is lost, or dropped because it is too large.
bool LogSink::append_line(Batch& batch, std::size_t index) {
  const AuditEvent& event = *batch.events[index].event;
  const std::size_t begin = buffer_.size();
  encoder_.append(buffer_, event);
  bool truncated = false;
  if (const auto& limit = settings_.truncate; limit.enabled) {
    truncated = buffer_.size() - begin + 1 > limit.max_event_bytes && event.level >= AuditLevel::kRequest;
    if (truncated) {
      buffer_.resize(begin);
      encoder_.append(buffer_, event, true);
    }
    if (buffer_.size() - begin + 1 > limit.max_event_bytes) {
      buffer_.resize(begin);
      batch.stored[index] = true;  // as upstream, a dropped event fails no request
      too_large_.add(1, "event is too large even after truncating", &event);
      return false;
    }
  }
  if (settings_.legacy) {
    buffer_.resize(begin);
    append_event_text(buffer_, event);
  }
  buffer_.push_back('\n');
  const std::size_t bytes = buffer_.size() - begin;
  if (const std::string why = file_.too_long(bytes); !why.empty()) {
    buffer_.resize(begin);
    lost_.add(1, why, &event);
    return false;
  }
  if (file_.is_full(begin, bytes)) rotate_before(batch, bytes);
  batch.ends.push_back(buffer_.size());
  batch.indexes.push_back(index);
  return true;
}

// The last `bytes` of the buffer belong into the next file.
void LogSink::rotate_before(Batch& batch, std::size_t bytes) {
  const std::string line = buffer_.substr(buffer_.size() - bytes);
  buffer_.resize(buffer_.size() - bytes);
  write_lines(batch);
  Status status = file_.rotate(std::chrono::system_clock::now());
  if (!status.ok()) logger_.error("the audit log is not rotated error=" + status.message());
  status = file_.open();
  if (!status.ok()) logger_.error("the audit log cannot be opened error=" + status.message());
  buffer_ = line;
  tend();
}

void LogSink::tend() {
  if (settings_.file.max_age_days == 0 && settings_.file.max_backups == 0 && !settings_.file.compress) return;
  tender_.post([self = shared_from_this()] {
    const Status status = tend_old_files(self->settings_.file, std::chrono::system_clock::now());
    if (!status.ok()) self->logger_.error("rotated audit logs are not removed or compressed error=" + status.message());
  });
}

void LogSink::write_lines(Batch& batch) {
  if (batch.ends.empty()) return;
  const LogFile::Written written = file_.write(buffer_, batch.ends);
  for (std::size_t i = 0; i < written.lines; ++i) batch.stored[batch.indexes[i]] = true;
  if (written.lines < batch.ends.size()) {
    const AuditEvent* const first = batch.events[batch.indexes[written.lines]].event.get();
    lost_.add(batch.ends.size() - written.lines, written.status.message(), first);
  }
  buffer_.clear();
  batch.ends.clear();
  batch.indexes.clear();
}

}  // namespace backplane::audit
