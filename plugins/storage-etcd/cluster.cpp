#include "cluster.hpp"

#include <algorithm>

namespace backplane::etcd {
namespace {

constexpr std::chrono::milliseconds kFirstPause{25}, kLongestPause{200};

}  // namespace

Cluster::Cluster(const Settings& settings, std::shared_ptr<Wire> wire, const Cluster* others)
    : wire_(std::move(wire)), current_(others != nullptr ? others->current_ : std::make_shared<std::atomic<std::size_t>>(0)) {
  for (std::size_t i = 0; i < settings.endpoints.size(); ++i) {
    const Endpoint& endpoint = settings.endpoints[i];
    const auto known = others != nullptr ? others->servers_.at(i).channel->server() : std::make_shared<Reachability>();
    servers_.push_back({endpoint.shown, Channel::make(wire_, settings, endpoint, known)});
  }
}

Cluster::~Cluster() {
  stopping_.store(true);
  for (const Server& server : servers_) server.channel->close();
  wire_->stop();
  // Turns of loops may hold them a little longer.
  for (const Server& server : servers_) server.channel->dispose();
}

const Server& Cluster::server() {
  if (servers_.size() == 1) return servers_.front();  // the call itself has it connected
  const std::size_t first = current_->load();
  for (std::size_t i = 0; i < servers_.size(); ++i) {
    const Server& server = servers_[(first + i) % servers_.size()];
    if (server.channel->connected()) return server;
  }
  return servers_[first % servers_.size()];
}

bool Cluster::reached() const {
  return std::any_of(servers_.begin(), servers_.end(), [](const Server& server) { return server.channel->connected(); });
}

void Cluster::expect() {
  for (const Server& server : servers_) server.channel->expect();
}

void Cluster::pass_over(const Server& failed) {
  std::size_t at = static_cast<std::size_t>(&failed - servers_.data());
  current_->compare_exchange_strong(at, (at + 1) % servers_.size());
}

std::optional<std::chrono::milliseconds> Cluster::again(const CallStatus& status, const Server& asked, bool reads, std::size_t tries,
                                                        Clock::duration so_far) {
  const bool silent = status.code == Code::kDeadlineExceeded;
  const bool away = status.code == Code::kUnavailable || is_electing(status);
  if (away || silent) pass_over(asked);
  if (silent && reads && !stopping() && tries < size()) return std::chrono::milliseconds(0);
  if (!away || stopping() || !(reads || never_arrived(status))) return std::nullopt;
  if (tries < size()) return std::chrono::milliseconds(0);
  // A connection that broke says nothing of the server behind it.
  if (!never_arrived(status) && !is_electing(status) && tries < 2 * size()) return kFirstPause;
  // All of them have been asked: who cannot be reached is not there in a moment either, but a leader may be.
  if (!is_electing(status) || so_far > kElection) return std::nullopt;
  return std::min(kLongestPause, kFirstPause * static_cast<std::int64_t>(1 + tries / size()));
}

bool Cluster::enter() {
  const std::lock_guard lock(mutex_);
  if (stopping_.load()) return false;
  ++turns_;
  return true;
}

void Cluster::leave() {
  const Promise<bool> idle = idle_;
  bool last = false;
  {
    const std::lock_guard lock(mutex_);
    --turns_;
    last = stopping_.load() && turns_ == 0;
  }
  // Who hears of it may let the cluster go.
  if (last) idle.set(true);
}

void Cluster::close() {
  {
    const std::lock_guard lock(mutex_);
    stopping_.store(true);
    if (turns_ == 0) idle_.set(true);
  }
  for (const Server& server : servers_) server.channel->close();
}

Task<void> Cluster::stop() {
  close();
  if (waited_for_.exchange(true)) co_return;
  bool ended = co_await idle_.future();
  (void)ended;
}

}  // namespace backplane::etcd
