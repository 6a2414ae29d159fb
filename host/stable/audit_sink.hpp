// Adapts an audit sink of the stable tier to the SDK's AuditSink: a queue of events, and one thread that encodes them and calls write().
//
// Thread-safety: process() and store(): any thread.
// Lifetime:      shared; the thread outlives it. After flush() has ended, write() is called only for events that are added later.
// Errors:        lost events are counted (apiserver_audit_error_total) and logged.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "backplane/core/logger.hpp"
#include "backplane/core/task.hpp"
#include "backplane/kit/audit_event_json.hpp"
#include "backplane/kit/audit_losses.hpp"
#include "backplane/points/audit.hpp"
#include "backplane/stable/audit.h"

namespace backplane::stable {

// A policy with the level and the stages of the sink for all requests.
std::shared_ptr<const AuditPolicy> audit_policy_of(const bp_audit_sink& table);

class TableAuditSink final : public AuditSink, public std::enable_shared_from_this<TableAuditSink> {
 public:
  // `thread`: the executor on which write() runs; write() may block it.
  TableAuditSink(const bp_audit_sink& table, Executor& thread, Logger& logger);

  std::string_view name() const noexcept override { return name_; }
  bool process(std::shared_ptr<const AuditEvent> event) noexcept override;
  Task<bool> store(std::shared_ptr<const AuditEvent> event) override;
  bool precedes_responses() const noexcept override { return table_.when_full == BP_AUDIT_WAIT; }
  Task<void> flush() override;

 private:
  struct Queued {
    std::shared_ptr<const AuditEvent> event;
    std::optional<Promise<bool>> written;  // for a request that waits: set when the event has been written or lost
  };

  bool is_full(const AuditEvent& event) const noexcept;
  void add(Queued queued);

  // ---- called on thread_
  void run();
  bool take(bool again);
  bool write_batch();
  void encode_batch();
  void release_batch();
  void end_flushes();

  const bp_audit_sink table_;
  const std::string name_;
  Executor& thread_;
  kit::AuditLosses lost_;
  Logger& logger_;

  std::mutex mutex_;
  std::deque<Queued> queue_;
  std::vector<Promise<bool>> flushes_;
  bool running_ = false;                                  // run() is scheduled or running
  std::atomic<std::size_t> events_{0}, object_bytes_{0};  // events that are neither written nor lost yet, and the bytes of their objects
  std::atomic<bool> flushing_{false};

  // ---- used on thread_ only
  std::deque<Queued> taken_;
  kit::AuditEventEncoder encoder_;
  std::string text_;               // the encoded first events of taken_, one after another
  std::vector<std::size_t> ends_;  // the end of each event in text_
  std::size_t attempts_ = 0;       // failed calls with this batch
  bool flushed_ = false;
};

}  // namespace backplane::stable
