// The webhook backend (--audit-webhook-config-file): POSTs EventLists.
//
// Modes (--audit-webhook-mode):
//   batch            events are queued and sent together; if the queue is full, an event is dropped and counted
//   blocking         a request waits until each of its events is sent
//   blocking-strict  the same, and fails if its event of the stage RequestReceived cannot be sent
// Thread-safety: any thread.
// Lifetime:      shared; the executor outlives it. If it has received events, its task runs until flush() is called.
// Errors:        events that cannot be sent are counted and logged.
// Source:        k8s.io/apiserver/plugin/pkg/audit/{webhook,buffered,truncate}.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <string>

#include "backplane/kit/audit_event_json.hpp"
#include "backplane/kit/audit_losses.hpp"
#include "event_queue.hpp"
#include "settings.hpp"
#include "webhook_poster.hpp"

namespace backplane::audit {

class WebhookSink final : public AuditSink, public std::enable_shared_from_this<WebhookSink> {
 public:
  // `executor`: one thread, on which events are encoded.
  WebhookSink(const WebhookSettings& settings, std::shared_ptr<WebhookPoster> poster, Executor& executor, Logger& logger);

  std::string_view name() const noexcept override { return "webhook"; }
  bool process(std::shared_ptr<const AuditEvent> event) noexcept override;
  Task<bool> store(std::shared_ptr<const AuditEvent> event) override;
  bool precedes_responses() const noexcept override { return settings_.batch.mode != Mode::kBatch; }
  Task<void> flush() override;

 private:
  // Sends batches until flush() is called. The first event in batch mode starts this task.
  Task<void> run();
  using Events = std::vector<std::shared_ptr<const AuditEvent>>;

  void end_wait();
  Task<bool> wait_for_ring(std::chrono::nanoseconds limit);
  void collect();
  // Resumes when the next batch may be sent (--audit-webhook-batch-throttle-*).
  Task<void> throttle();
  void send_detached(Events events);
  static Task<void> send_batch(std::shared_ptr<WebhookSink> self, Events events);
  // Returns false if the request failed. Events that are dropped because they are too large are not a failure.
  Task<bool> send(Events events);
  std::string event_list(const Events& events, Events& sent);

  const WebhookSettings settings_;
  const std::shared_ptr<WebhookPoster> poster_;
  Executor& executor_;
  kit::AuditLosses lost_, dropped_, too_large_;

  EventQueue queue_;
  std::atomic<bool> running_{false}, flushing_{false};
  std::mutex mutex_;
  Promise<bool> wait_end_;  // set by end_wait(), which ends the current wait
  bool rung_ = false;

  // ---- used only on the executor
  std::deque<std::shared_ptr<const AuditEvent>> ready_;
  std::size_t sending_ = 0;  // the number of batches that are being sent
  double tokens_ = 0;
  std::chrono::steady_clock::time_point refilled_ = std::chrono::steady_clock::now();
  std::optional<Promise<bool>> one_sent_;
  bool ended_ = false;
  std::vector<Promise<bool>> flushes_;
  kit::AuditEventEncoder encoder_;
};

}  // namespace backplane::audit
