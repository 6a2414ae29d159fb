// The log backend (--audit-log-path): a line for each event.
//
// One thread encodes and writes; requests only queue their events.  Modes (--audit-log-mode):
//   batch            an event that finds --audit-log-batch-buffer-size events in the queue is dropped and counted
//   blocking         such a request waits until its event is written
//   blocking-strict  the same, and a request waits until its event of the stage RequestReceived is written, and fails if it is not
// Thread-safety: any thread.
// Lifetime:      shared; the executors outlive it.
// Errors:        events that cannot be written are counted and logged.
// Source:        k8s.io/apiserver/plugin/pkg/audit/{log,buffered,truncate}.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "event_json.hpp"
#include "event_queue.hpp"
#include "log_file.hpp"
#include "losses.hpp"
#include "settings.hpp"

namespace backplane::audit {

class LogSink final : public AuditSink, public std::enable_shared_from_this<LogSink> {
 public:
  // `writer`: one thread, which the sink blocks; `tender`: another one, for rotated files.
  LogSink(const LogSettings& settings, Executor& writer, Executor& tender, Logger& logger);

  ~LogSink() override;
  std::string_view name() const noexcept override { return "log"; }
  bool process(std::shared_ptr<const AuditEvent> event) noexcept override;
  Task<bool> store(std::shared_ptr<const AuditEvent> event) override;
  Task<void> flush() override;

 private:
  // One line of the bytes that are written together.
  struct Line {
    std::size_t event;  // its index in the batch
    std::size_t end;
  };
  struct Batch;
  struct Written;

  bool is_full(const AuditEvent& event) const noexcept;
  std::size_t queue(QueuedEvent event);
  void wake(bool can_wait) noexcept;
  void free_some_written() noexcept;
  void leave_to_requests(std::unique_ptr<Written> written) noexcept;
  void drain();
  void drain_later();
  void write_events(std::vector<QueuedEvent> events);
  bool append_line(Batch& batch, std::size_t index);
  void write_lines(Batch& batch);
  void rotate_before(Batch& batch, std::size_t bytes);
  void tend();

  const LogSettings settings_;
  Executor& writer_;
  Executor& tender_;
  Losses lost_, dropped_, too_large_;
  Logger& logger_;

  EventQueue queue_;
  std::atomic<std::size_t> queued_bytes_{0};  // of objects
  std::atomic<bool> awake_{false};            // drain() runs or will run
  std::atomic<bool> later_{false};            // drain() runs again after kLater
  std::atomic<Written*> freed_by_requests_{nullptr};
  std::atomic<bool> busy_{false};  // many events came in the last period

  // ---- of the writer
  LogFile file_;
  EventEncoder encoder_;
  std::string buffer_;
  std::size_t written_ = 0;  // events since the last look
};

}  // namespace backplane::audit
