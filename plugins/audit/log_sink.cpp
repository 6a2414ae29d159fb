#include "log_sink.hpp"

#include <algorithm>

namespace backplane::audit {
namespace {

// Blocking modes: a request waits while this much is queued.
constexpr std::size_t kMostBlockingEvents = 4096;
constexpr std::size_t kMostQueuedBytes = std::size_t{64} << 20;
// Lines are written together up to this size.
constexpr std::size_t kWriteBytes = std::size_t{256} << 10;
// The maximum memory that a queue retains for its next lines.
constexpr std::size_t kMostKeptBytes = std::size_t{1} << 20;
// After a write the writer checks the queue again after this time, so that requests need not wake it: waking it is a request's largest
// cost.
constexpr std::chrono::milliseconds kDrainPause{5};
// A queue of this size wakes the writer nevertheless.
constexpr std::size_t kManyEvents = 512;

std::string_view first_line(std::string_view lines) noexcept { return lines.substr(0, lines.find('\n')); }
std::size_t object_bytes(const AuditEvent& event) noexcept { return event.request_object.size() + event.response_object.size(); }

}  // namespace

struct LogSink::Batch {
  std::vector<QueuedLine> lines;
  std::vector<bool> stored;
  std::vector<std::size_t> ends, indexes;  // of the lines in the buffer
};

LogSink::LogSink(const LogSettings& settings, Executor& writer, Executor& cleanup_executor, Logger& logger)
    : settings_(settings),
      writer_(writer),
      cleanup_executor_(cleanup_executor),
      lost_("log", logger),
      dropped_("buffered", logger),
      too_large_("truncate", logger),
      logger_(logger),
      queue_(settings_),
      file_(settings.file),
      encoder_(settings_) {}

bool LogSink::is_full(const AuditEvent& event) const noexcept {
  const bool batch = settings_.batch.mode == Mode::kBatch;
  const std::size_t bytes = object_bytes(event);
  if (bytes > 0 && queued_bytes_.load(std::memory_order_relaxed) > kMostQueuedBytes) return true;
  return queue_.size() >= (batch ? settings_.batch.buffer_size : kMostBlockingEvents);
}

bool LogSink::process(std::shared_ptr<const AuditEvent> event) noexcept {
  if (settings_.batch.mode == Mode::kBlockingStrict && event->stage == AuditStage::kRequestReceived) return false;
  if (is_full(*event)) {
    if (settings_.batch.mode != Mode::kBatch) return false;
    dropped_.add(1, "audit buffer queue blocked", event.get());
    return true;
  }
  try {
    const std::size_t count = queue(std::move(event), std::nullopt);
    if (count == 0) return true;
    const bool many = count >= std::min(kManyEvents, settings_.batch.buffer_size / 2);
    wake(!many);
  } catch (const std::exception& error) {
    lost_.add(1, error.what(), nullptr);
  }
  return true;
}

Task<bool> LogSink::store(std::shared_ptr<const AuditEvent> event) {
  Promise<bool> written;
  queue(std::move(event), written);
  wake(false);
  const bool stored = co_await written.future();
  co_return stored || settings_.batch.mode != Mode::kBlockingStrict;
}

Task<void> LogSink::flush() {
  Promise<bool> written;
  {
    const std::lock_guard lock(flushes_mutex_);
    flushes_.push_back(written);
  }
  wake(false);
  (void)co_await written.future();
}

// Returns 0 if the event is not queued: it is lost or dropped, and `stored` is set accordingly.
std::size_t LogSink::queue(std::shared_ptr<const AuditEvent> event, std::optional<Promise<bool>> stored) {
  if (const std::size_t bytes = object_bytes(*event); bytes > 0) {
    queued_bytes_.fetch_add(bytes, std::memory_order_relaxed);
    return queue_.add({0, std::move(event), std::move(stored)});
  }
  Line result = Line::kAppended;
  const std::size_t count = queue_.add({0, nullptr, stored}, [&](LineEncoder& encoder, std::string& text) {
    result = append_line(encoder, text, *event);
    return result == Line::kAppended;
  });
  if (result != Line::kAppended && stored) stored->set(result == Line::kDropped);
  return count;
}

LogSink::Line LogSink::append_line(LineEncoder& encoder, std::string& out, const AuditEvent& event) {
  const std::size_t begin = out.size();
  if (!encoder.append(out, event)) {
    too_large_.add(1, "event is too large even after truncating", &event);
    return Line::kDropped;  // as upstream, the request does not fail
  }
  if (const std::string why = file_.too_long(out.size() - begin); !why.empty()) {
    out.resize(begin);
    lost_.add(1, why, &event);
    return Line::kLost;
  }
  return Line::kAppended;
}

void LogSink::wake(bool can_wait) noexcept {
  if (can_wait && drain_pending_.load(std::memory_order_seq_cst)) return;
  if (awake_.load(std::memory_order_seq_cst) || awake_.exchange(true, std::memory_order_seq_cst)) return;
  writer_.post([self = shared_from_this()] { self->drain(); });
}

// The locks of the queue guarantee the order: a line that is added after the last check of write_all() finds awake_ false and posts another
// call.
void LogSink::drain() {
  bool any = false;
  do {
    while (write_all()) any = true;
    awake_.store(false, std::memory_order_seq_cst);
    if (!write_all()) break;
    any = true;
  } while (!awake_.exchange(true, std::memory_order_seq_cst));
  if (any) drain_later();
}

void LogSink::drain_later() {
  if (drain_pending_.exchange(true, std::memory_order_seq_cst)) return;
  writer_.after(kDrainPause, [self = shared_from_this()] {
    self->drain_pending_.store(false, std::memory_order_seq_cst);
    self->drain();
  });
}

// Writes the queued events, and completes flushes. Returns false if there were neither.
bool LogSink::write_all() {
  // Takes the flushes first: the events for which a flush() waits were queued before it.
  std::vector<Promise<bool>> flushes;
  {
    const std::lock_guard lock(flushes_mutex_);
    flushes.swap(flushes_);
  }
  Batch batch;
  const Status opened = file_.open();
  for (std::size_t part = 0; part < LineQueue::kParts; ++part) {
    if (!queue_.take(part, taken_)) continue;
    if (!opened.ok()) lost_.add(taken_.lines.size(), opened.message(), first_line(taken_.text));
    append_taken(batch, opened.ok());
  }
  write_lines(batch);
  for (std::size_t i = 0; i < batch.lines.size(); ++i) {
    if (batch.lines[i].stored) batch.lines[i].stored->set(batch.stored[i]);
  }
  queue_.release(batch.lines.size());
  if (!flushes.empty()) file_.sync();
  for (auto& each : flushes) each.set(true);
  return !batch.lines.empty() || !flushes.empty();
}

// Moves the taken lines into the batch, and, if `can_write`, into the buffer.
void LogSink::append_taken(Batch& batch, bool can_write) {
  std::size_t at = 0;
  for (QueuedLine& line : taken_.lines) {
    const std::string_view text = std::string_view(taken_.text).substr(at, line.bytes);
    at += line.bytes;
    batch.lines.push_back(std::move(line));
    batch.stored.push_back(false);
    if (can_write) append_last(batch, text);
    auto& event = batch.lines.back().event;
    if (event != nullptr) queued_bytes_.fetch_sub(object_bytes(*event), std::memory_order_relaxed);
    event = nullptr;
  }
  taken_.lines.clear();
  taken_.text.clear();
  if (taken_.text.capacity() > kMostKeptBytes) taken_ = {};
}

// Appends the last line of the batch to the buffer. `text`: the text of this line, unless its event has not been encoded yet.
void LogSink::append_last(Batch& batch, std::string_view text) {
  const std::size_t begin = buffer_.size();
  if (const auto& event = batch.lines.back().event; event == nullptr) {
    buffer_.append(text);
  } else if (const Line result = append_line(encoder_, buffer_, *event); result != Line::kAppended) {
    batch.stored.back() = result == Line::kDropped;
    return;
  }
  const std::size_t bytes = buffer_.size() - begin;
  if (file_.is_full(begin, bytes)) rotate_before(batch, bytes);
  batch.ends.push_back(buffer_.size());
  batch.indexes.push_back(batch.lines.size() - 1);
  if (buffer_.size() >= kWriteBytes) write_lines(batch);
}

// Writes the buffer except its last `bytes`, and rotates the file. The last bytes remain in the buffer, for the new file.
void LogSink::rotate_before(Batch& batch, std::size_t bytes) {
  const std::string line = buffer_.substr(buffer_.size() - bytes);
  buffer_.resize(buffer_.size() - bytes);
  write_lines(batch);
  Status status = file_.rotate(std::chrono::system_clock::now());
  if (!status.ok()) logger_.error("the audit log is not rotated error=" + status.message());
  status = file_.open();
  if (!status.ok()) logger_.error("the audit log cannot be opened error=" + status.message());
  buffer_ = line;
  clean_up();
}

void LogSink::clean_up() {
  if (settings_.file.max_age_days == 0 && settings_.file.max_backups == 0 && !settings_.file.compress) return;
  cleanup_executor_.post([self = shared_from_this()] {
    const Status status = clean_up_rotated_files(self->settings_.file, std::chrono::system_clock::now());
    if (!status.ok()) self->logger_.error("rotated audit logs are not removed or compressed error=" + status.message());
  });
}

void LogSink::write_lines(Batch& batch) {
  if (batch.ends.empty()) return;
  const LogFile::Written written = file_.write(buffer_, batch.ends);
  for (std::size_t i = 0; i < written.lines; ++i) batch.stored[batch.indexes[i]] = true;
  if (written.lines < batch.ends.size()) {
    const std::size_t begin = written.lines == 0 ? 0 : batch.ends[written.lines - 1];
    // The text of an event with objects may contain secrets.
    const bool shown = batch.lines[batch.indexes[written.lines]].bytes > 0;
    lost_.add(batch.ends.size() - written.lines, written.status.message(),
              shown ? first_line(std::string_view(buffer_).substr(begin)) : std::string_view());
  }
  buffer_.clear();
  batch.ends.clear();
  batch.indexes.clear();
}

}  // namespace backplane::audit
