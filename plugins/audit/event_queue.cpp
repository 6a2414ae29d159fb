#include "event_queue.hpp"

#include <algorithm>

namespace backplane::audit {

std::size_t EventQueue::push(std::shared_ptr<const AuditEvent> event) {
  auto* const node = new Node{std::move(event), nullptr};
  const std::size_t count = count_.fetch_add(1, std::memory_order_relaxed) + 1;
  node->older = newest_.load(std::memory_order_relaxed);
  while (!newest_.compare_exchange_weak(node->older, node, std::memory_order_seq_cst, std::memory_order_relaxed)) {
  }
  return count;
}

std::vector<std::shared_ptr<const AuditEvent>> EventQueue::take() {
  std::vector<std::shared_ptr<const AuditEvent>> events;
  std::unique_ptr<Node> node(newest_.exchange(nullptr, std::memory_order_seq_cst));
  while (node != nullptr) {
    events.push_back(std::move(node->event));
    node.reset(node->older);
  }
  std::reverse(events.begin(), events.end());
  return events;
}

}  // namespace backplane::audit
