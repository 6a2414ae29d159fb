#include "transport/http_server.hpp"

#include <algorithm>

#include "backplane/core/task_set.hpp"
#include "transport/log.hpp"

namespace backplane {

HttpServer::HttpServer(LoopPool& loops, HttpHandler& root, ConnectionOptions options, HttpLimits limits, std::size_t max_connections)
    : pool_(loops), max_connections_(max_connections), counters_(std::make_shared<TransportCounters>()) {
  for (std::size_t i = 0; i < loops.size(); ++i) {
    loops_.push_back(std::make_shared<ServerLoop>(loops.loop(i), root, options, limits, counters_));
  }
}

HttpServer::~HttpServer() = default;

void HttpServer::listen(FileDescriptor listening, Prepare prepare) {
  auto on_accept = [this, prepare = std::move(prepare)](AcceptedSocket socket) { accepted(std::move(socket), prepare); };
  auto acceptor = std::make_shared<Acceptor>(pool_.loop(0), std::move(listening), std::move(on_accept));
  acceptor->start();
  std::lock_guard lock(mutex_);
  acceptor_ = std::move(acceptor);
}

void HttpServer::accepted(AcceptedSocket socket, const Prepare& prepare) {
  if (active_connections() >= max_connections_) {
    counters_->refused.fetch_add(1, std::memory_order_relaxed);
    transport_log().debug("closing a connection over the limit peer={} bound={}", socket.remote_address, max_connections_);
    return;
  }
  counters_->accepted.fetch_add(1, std::memory_order_relaxed);
  if (prepare) prepare(socket);
  // Chooses the loop with the fewest connections; loops with equally many take turns.
  std::size_t best = next_loop_++ % loops_.size();
  for (std::size_t i = 0; i < loops_.size(); ++i) {
    if (loops_[i]->connections() < loops_[best]->connections()) best = i;
  }
  loops_[best]->adopt(std::move(socket));
}

void HttpServer::stop_listening(std::function<void()> done) {
  std::shared_ptr<Acceptor> acceptor;
  {
    std::lock_guard lock(mutex_);
    acceptor = std::move(acceptor_);
  }
  if (acceptor) {
    acceptor->stop(std::move(done));
  } else if (done) {
    done();
  }
}

void HttpServer::on_every_loop(void (ServerLoop::*what)()) {
  for (auto& loop : loops_) loop->loop().post([loop, what] { ((*loop).*what)(); });
}

void HttpServer::shorten_write_timeouts() { on_every_loop(&ServerLoop::shorten_write_timeouts); }
void HttpServer::begin_drain() { on_every_loop(&ServerLoop::drain); }
void HttpServer::force_close() { on_every_loop(&ServerLoop::close_all); }

Task<bool> HttpServer::wait_closed(std::chrono::steady_clock::time_point deadline) {
  Promise<bool> done;
  const auto left = std::make_shared<std::atomic<std::size_t>>(loops_.size());
  const auto one_idle = [left, done] {
    if (left->fetch_sub(1) == 1) done.set(true);
  };
  for (auto& loop : loops_) {
    loop->loop().post([loop, one_idle] { loop->when_idle(one_idle); });
  }
  const auto delay = std::max(deadline - std::chrono::steady_clock::now(), std::chrono::steady_clock::duration::zero());
  auto waiting = within(delay, done);
  const bool closed = co_await std::move(waiting);
  co_return closed;
}

std::size_t HttpServer::active_connections() const {
  std::size_t all = 0;
  for (const auto& loop : loops_) all += loop->connections();
  return all;
}

}  // namespace backplane
