// The log backend (--audit-log-path): a line for each event.
//
// Requests add their events to a queue, and one thread writes them. Events without objects are encoded before they are queued.
// Modes (--audit-log-mode):
//   batch            if the queue contains --audit-log-batch-buffer-size events, a new event is dropped and counted
//   blocking         if the queue is full, a request waits until its event is written
//   blocking-strict  as blocking; each request also waits until its event of the stage RequestReceived is written, and fails if it is lost
// Thread-safety: any thread.
// Lifetime:      shared; the executors outlive it.
// Errors:        events that cannot be written are counted and logged.
// Source:        k8s.io/apiserver/plugin/pkg/audit/{log,buffered,truncate}.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backplane/kit/audit_losses.hpp"
#include "line_queue.hpp"
#include "log_file.hpp"
#include "settings.hpp"

namespace backplane::audit {

class LogSink final : public AuditSink, public std::enable_shared_from_this<LogSink> {
 public:
  // `writer`: one thread, which the sink blocks. `cleanup_executor`: another thread, which processes rotated files.
  LogSink(const LogSettings& settings, Executor& writer, Executor& cleanup_executor, Logger& logger);

  std::string_view name() const noexcept override { return "log"; }
  bool process(std::shared_ptr<const AuditEvent> event) noexcept override;
  Task<bool> store(std::shared_ptr<const AuditEvent> event) override;
  Task<void> flush() override;

 private:
  // Lines that were taken together, and the part of them that is in the buffer.
  struct Batch;
  enum class Line : std::uint8_t { kAppended, kDropped, kLost };

  bool is_full(const AuditEvent& event) const noexcept;
  Line append_line(LineEncoder& encoder, std::string& out, const AuditEvent& event);
  std::size_t queue(std::shared_ptr<const AuditEvent> event, std::optional<Promise<bool>> stored);
  void wake(bool can_wait) noexcept;
  void drain();
  void drain_later();
  bool write_all();
  void append_taken(Batch& batch, bool can_write);
  void append_last(Batch& batch, std::string_view text);
  void write_lines(Batch& batch);
  void rotate_before(Batch& batch, std::size_t bytes);
  void clean_up();

  const LogSettings settings_;
  Executor& writer_;
  Executor& cleanup_executor_;
  kit::AuditLosses lost_, dropped_, too_large_;
  Logger& logger_;

  LineQueue queue_;
  std::atomic<std::size_t> queued_bytes_{0};  // bytes of the objects of queued events
  std::atomic<bool> awake_{false};            // drain() runs or will run
  std::atomic<bool> drain_pending_{false};    // drain() runs again after kDrainPause
  std::mutex flushes_mutex_;
  std::vector<Promise<bool>> flushes_;

  // ---- used only by the writer
  LogFile file_;
  LineEncoder encoder_;
  QueuedLines taken_;
  std::string buffer_;
};

}  // namespace backplane::audit
