#include "cluster.hpp"

#include <algorithm>

namespace backplane::etcd {
namespace {

constexpr std::chrono::milliseconds kFirstPause{25}, kLongestPause{200};

}  // namespace

void Cluster::use_next_server(const Server& failed) {
  std::size_t at = static_cast<std::size_t>(&failed - servers_.data());
  current_.compare_exchange_strong(at, (at + 1) % servers_.size());
}

void Cluster::note_end(const CallStatus& status) {
  if (status.code == Code::kUnavailable && status.never_sent) {
    unreachable_.store(true);
  } else if (status.ok() && unreachable_.load(std::memory_order_relaxed) && unreachable_.exchange(false) && reached_) {
    reached_();
  }
}

grpc::CallOptions Cluster::options_of(CallTimeouts timeouts, bool needs_leader, Turn& turn) {
  const auto now = Clock::now();
  grpc::CallOptions options;
  options.deadline = now + timeouts.answer;
  options.send_by = now + timeouts.connection;
  options.max_message_bytes = kMaxMessage;
  options.breaker = turn.next_breaker();
  options.metadata.reserve(6);  // the entries of this function, of gRPC and of the HTTP client
  if (needs_leader) options.metadata.emplace_back("hasleader", "true");
  return options;
}

std::optional<std::chrono::milliseconds> Cluster::again(const CallStatus& status, const Server& asked, bool reads, std::size_t tries,
                                                        Clock::duration so_far) {
  const bool silent = status.code == Code::kDeadlineExceeded;
  const bool unreachable = status.code == Code::kUnavailable || is_electing(status);
  if (unreachable || silent) use_next_server(asked);
  if (silent && reads && !stopping() && tries < size()) return std::chrono::milliseconds(0);
  if (!unreachable || stopping() || !(reads || was_not_sent(status))) return std::nullopt;
  if (tries < size()) return std::chrono::milliseconds(0);
  // The connection broke after the request was sent. This does not mean that the server is unavailable, so each server is tried twice.
  if (!was_not_sent(status) && !is_electing(status) && tries < 2 * size()) return kFirstPause;
  // All servers have been tried. A retry does not help against unreachable servers, but a leader may be elected meanwhile.
  if (!is_electing(status) || so_far > kElection) return std::nullopt;
  return std::min(kLongestPause, kFirstPause * static_cast<std::int64_t>(1 + tries / size()));
}

// ---- stopping

Cluster::Turn::Turn(Cluster& cluster) : cluster_(cluster), breaker_(std::make_shared<CallBreaker>()) {
  const std::lock_guard lock(cluster_.mutex_);
  if (cluster_.stopping_.load()) return;
  entered_ = true;
  after_ = std::exchange(cluster_.turns_, this);
  if (after_ != nullptr) after_->before_ = this;
}

Cluster::Turn::~Turn() {
  if (!entered_) return;
  std::optional<Promise<bool>> idle;
  {
    const std::lock_guard lock(cluster_.mutex_);
    (before_ != nullptr ? before_->after_ : cluster_.turns_) = after_;
    if (after_ != nullptr) after_->before_ = before_;
    if (cluster_.stopping_.load() && cluster_.turns_ == nullptr) idle = cluster_.idle_;
  }
  // Set without the lock, because the caller of stop() may then destroy the cluster.
  if (idle) idle->set(true);
}

// Only this turn writes breaker_, so it may read it without the lock.
std::shared_ptr<CallBreaker> Cluster::Turn::next_breaker() {
  if (!std::exchange(breaker_used_, true)) return breaker_;
  auto made = std::make_shared<CallBreaker>();
  bool stopping = false;
  {
    const std::lock_guard lock(cluster_.mutex_);
    breaker_ = made;
    stopping = cluster_.stopping_.load();
  }
  if (stopping) made->break_off(stopped_status());
  return made;
}

void Cluster::close() {
  std::vector<std::shared_ptr<CallBreaker>> breakers;
  {
    const std::lock_guard lock(mutex_);
    stopping_.store(true);
    if (turns_ == nullptr) idle_.set(true);
    for (const Turn* turn = turns_; turn != nullptr; turn = turn->after_) {
      if (turn->breaker_) breakers.push_back(turn->breaker_);
    }
  }
  for (const auto& breaker : breakers) breaker->break_off(stopped_status());
}

Task<void> Cluster::stop() {
  close();
  if (waited_for_.exchange(true)) co_return;
  const bool ended = co_await idle_.future();
  static_cast<void>(ended);
}

}  // namespace backplane::etcd
