// A queue of events for the task that sends them.
//
// Thread-safety: push() from any thread, without a lock; take() by one consumer at a time.
// Lifetime:      the queue destroys events that have not been taken.
// Errors:        std::bad_alloc.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "backplane/points/audit.hpp"

namespace backplane::audit {

class EventQueue {
 public:
  EventQueue() = default;
  EventQueue(const EventQueue&) = delete;
  EventQueue& operator=(const EventQueue&) = delete;
  ~EventQueue() { (void)take(); }

  // Returns the number of events, including this one, that are queued, or taken and not yet released.
  std::size_t push(std::shared_ptr<const AuditEvent> event);
  // Removes and returns all events, oldest first.
  std::vector<std::shared_ptr<const AuditEvent>> take();
  bool empty() const noexcept { return newest_.load(std::memory_order_seq_cst) == nullptr; }
  // Releases `count` taken events, which no longer count as queued.
  void release(std::size_t count) noexcept { count_.fetch_sub(count, std::memory_order_relaxed); }
  std::size_t size() const noexcept { return count_.load(std::memory_order_relaxed); }

 private:
  struct Node {
    std::shared_ptr<const AuditEvent> event;
    Node* older = nullptr;
  };
  std::atomic<Node*> newest_{nullptr};
  std::atomic<std::size_t> count_{0};
};

}  // namespace backplane::audit
