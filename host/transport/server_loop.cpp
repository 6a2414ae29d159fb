#include "transport/server_loop.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>

#include "base/caught.hpp"
#include "transport/connection.hpp"
#include "transport/log.hpp"

namespace backplane {
namespace {

namespace asio = boost::asio;

// Large enough for the bytes that a fast link delivers between two reads.
constexpr std::size_t kReadBuffer = 128 << 10;
// Maximum time that flush_all() writes to connections before other functions of the loop run.
constexpr std::chrono::milliseconds kFlushTurn{2};
// The maximum size of a TLS record.
constexpr std::size_t kPlainBuffer = 16 << 10;

// Returns a quarter of the shortest timeout, but at least 10 ms and at most a second.
std::chrono::milliseconds tick_interval(const ConnectionOptions& options, const HttpLimits& limits) {
  using std::chrono::milliseconds;
  const milliseconds shortest = std::min({options.handshake_timeout, limits.read_header_timeout, limits.idle_timeout, limits.body_timeout,
                                          limits.write_timeout, limits.last_write_timeout});
  return std::clamp(shortest / 4, milliseconds(10), milliseconds(1'000));
}

}  // namespace

ServerLoop::ServerLoop(IoLoop& loop, HttpHandler& root, ConnectionOptions options, HttpLimits limits,
                       std::shared_ptr<TransportCounters> counters)
    : loop_(loop),
      runner_(loop, root, limits),
      options_(options),
      counters_(std::move(counters)),
      ticker_(loop.context()),
      read_buffer_(kReadBuffer),
      plain_buffer_(kPlainBuffer),
      tick_interval_(tick_interval(options, limits)) {
  runner_.on_idle([this] { check_idle(); });
}

ServerLoop::~ServerLoop() = default;

void ServerLoop::adopt(AcceptedSocket socket) {
  count_.fetch_add(1, std::memory_order_relaxed);
  // The socket is in a shared_ptr, because a std::function must be copyable.
  auto parcel = std::make_shared<AcceptedSocket>(std::move(socket));
  loop_.post([self = shared_from_this(), parcel] { self->begin(std::move(*parcel)); });
}

void ServerLoop::begin(AcceptedSocket socket) {
  if (closing_) {
    count_.fetch_sub(1, std::memory_order_relaxed);
    return check_idle();
  }
  // An exception (descriptor, TLS, memory) ends only the connection that caused it.
  std::shared_ptr<Connection> connection;
  try {
    connection = std::make_shared<Connection>(*this, std::move(socket));
    connections_.emplace(connection.get(), connection);
    if (!ticking_) arm_ticker();
    connection->start();
  } catch (...) {
    transport_log().warn("accepting a connection failed error={:?}", caught().what);
    const bool known = connection && connections_.contains(connection.get());
    if (known) return connection->close();
    count_.fetch_sub(1, std::memory_order_relaxed);
    check_idle();
  }
}

void ServerLoop::remove(Connection& connection) {
  if (connections_.erase(&connection) == 0) return;
  count_.fetch_sub(1, std::memory_order_relaxed);
  check_idle();
}

void ServerLoop::flush_later(std::shared_ptr<Connection> connection) {
  to_flush_.push_back(std::move(connection));
  post_flush();
}

void ServerLoop::post_flush() {
  if (std::exchange(flush_posted_, true)) return;
  asio::post(loop_.context(), [self = shared_from_this()] { self->flush_all(); });
}

void ServerLoop::flush_all() {
  flush_posted_ = false;
  if (flushing_.empty()) flushing_.swap(to_flush_);
  const auto until = std::chrono::steady_clock::now() + kFlushTurn;
  while (flushed_ < flushing_.size()) {
    if (auto connection = flushing_[flushed_++].lock()) connection->flush();
    if (std::chrono::steady_clock::now() >= until) break;
  }
  if (flushed_ == flushing_.size()) {
    flushing_.clear();
    flushed_ = 0;
  }
  if (!flushing_.empty() || !to_flush_.empty()) post_flush();
}

void ServerLoop::arm_ticker() {
  ticking_ = true;
  ticker_.expires_after(tick_interval_);
  ticker_.async_wait([self = shared_from_this()](boost::system::error_code error) {
    if (!error) self->tick();
  });
}

void ServerLoop::tick() {
  ticking_ = false;
  const auto now = std::chrono::steady_clock::now();
  std::vector<std::shared_ptr<Connection>> all;
  all.reserve(connections_.size());
  for (auto& [_, connection] : connections_) all.push_back(connection);
  for (auto& connection : all) connection->tick(now);
  if (!connections_.empty()) arm_ticker();
}

void ServerLoop::shorten_write_timeouts() { runner_.shorten_write_timeouts(); }

void ServerLoop::drain() {
  draining_ = true;
  std::vector<std::shared_ptr<Connection>> all;
  for (auto& [_, connection] : connections_) all.push_back(connection);
  for (auto& connection : all) connection->drain();
}

void ServerLoop::close_all() {
  draining_ = closing_ = true;
  std::vector<std::shared_ptr<Connection>> all;
  for (auto& [_, connection] : connections_) all.push_back(connection);
  for (auto& connection : all) connection->close();
}

void ServerLoop::when_idle(std::function<void()> callback) {
  idle_waiters_.push_back(std::move(callback));
  check_idle();
}

void ServerLoop::check_idle() {
  // connections() also counts sockets that were passed to adopt() and have not reached begin() yet.
  if (connections() != 0 || runner_.running() != 0) return;
  for (auto& waiter : std::exchange(idle_waiters_, {})) waiter();
}

}  // namespace backplane
