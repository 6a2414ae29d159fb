#include "client/remote_pool.hpp"

#include <algorithm>

namespace backplane {
namespace {

constexpr int kTries = 2;

Status closed_client() { return service_unavailable("the client has been closed"); }

}  // namespace

RemotePool::RemotePool(IoLoop& loop, std::shared_ptr<PoolShare> share)
    : loop_(loop), share_(std::move(share)), deadlines_(std::make_shared<CallDeadlines>(loop)) {}

RemotePool::~RemotePool() {
  for (const RemoteCallRef& call : waiting_) call->carried_by(nullptr);
  connections_.clear();
  count();
}

void RemotePool::submit(RemoteCallRef call, std::shared_ptr<const ClientCredentials> credentials) {
  use(std::move(credentials));
  deadlines_->add(call);
  submit(std::move(call));
}

void RemotePool::submit(RemoteCallRef call) {
  call->carried_by(nullptr);  // the previous connection of the call may have ended
  if (closed_) return call->fail(closed_client());
  ++call->tries;
  RemoteConnection* const free = waiting_.empty() && !call->request().upgrade && !call->over() ? find_free() : nullptr;
  if (free != nullptr) return serve_by(*free, call);
  call->carried_by(this);
  waiting_.push_back(std::move(call));
  serve();
}

// A waiting call was cancelled. A long queue is cleared of cancelled calls, so that their requests are not retained.
void RemotePool::call_cancelled(RemoteCall&) {
  if (++cancelled_waiters_ <= waiting_.size() / 2) return;
  cancelled_waiters_ = 0;
  // Posted, because the call becomes over() only after this function has returned.
  loop_.post([self = shared_from_this()] { std::erase_if(self->waiting_, [](const RemoteCallRef& call) { return call->over(); }); });
}

void RemotePool::close() {
  closed_ = true;
  for (const RemoteCallRef& call : std::exchange(waiting_, {})) call->fail(closed_client());
  for (const auto& connection : std::vector(connections_)) connection->close(closed_client());
}

void RemotePool::connection_closed(RemoteConnection& connection, std::vector<RemoteCallRef> again, const Status& why) {
  std::erase_if(connections_, [&](const auto& one) { return one.get() == &connection; });
  count();
  for (RemoteCallRef& call : again) {
    if (call->tries < kTries) {
      submit(std::move(call));
    } else {
      call->fail(why);
    }
  }
  if (!connection.is_open() && connections_.empty()) {
    // No other connection can serve the waiting calls.
    for (const RemoteCallRef& call : std::exchange(waiting_, {})) call->fail(why);
  }
  serve();
}

// Uses the newest credentials for new connections. If the TLS context has changed, open connections are retired: they accept no more calls.
void RemotePool::use(std::shared_ptr<const ClientCredentials> credentials) {
  if (credentials_ != nullptr && credentials_->generation >= credentials->generation) return;
  const bool newer = credentials_ != nullptr && credentials_->context.get() != credentials->context.get();
  credentials_ = std::move(credentials);
  if (!newer) return;
  for (const auto& connection : std::vector(connections_)) connection->retire();
  count();
}

void RemotePool::serve() {
  while (!closed_ && !waiting_.empty()) {
    if (waiting_.front()->over()) {
      waiting_.pop_front();
    } else if (!serve_one()) {
      return;
    }
  }
}

bool RemotePool::serve_one() {
  const bool alone = waiting_.front()->request().upgrade;
  RemoteConnection* connection = alone ? nullptr : find_free();
  const bool found = connection != nullptr;
  if (!found) {
    count();
    const RemoteCallRef& call = waiting_.front();
    if (call->lasting() && share_->lasting.load(std::memory_order_relaxed) >= share_->config.max_lasting_connections) {
      call->fail(too_many_requests("long-running calls use the maximum of " + std::to_string(share_->config.max_lasting_connections) +
                                       " connections to " + share_->address.authority,
                                   1));
      waiting_.pop_front();
      return true;
    }
    if (!may_open(*call)) return false;
  }
  // The call is removed from the queue first, because a connection that cannot be opened fails all calls in the queue.
  const RemoteCallRef call = std::move(waiting_.front());
  waiting_.pop_front();
  call->carried_by(nullptr);
  if (found) {
    serve_by(*connection, call);
  } else {
    open(alone)->take(call);
    count();
  }
  return true;
}

void RemotePool::serve_by(RemoteConnection& connection, const RemoteCallRef& call) {
  connection.take(call);
  if (call->lasting()) count();
}

RemoteConnection* RemotePool::find_free() const {
  const auto free = std::find_if(connections_.begin(), connections_.end(), [](const auto& one) { return one->can_take(); });
  return free == connections_.end() ? nullptr : free->get();
}

std::shared_ptr<RemoteConnection> RemotePool::open(bool alone) {
  auto connection = std::make_shared<RemoteConnection>(weak_from_this(), RemoteConnection::Place{loop_, share_->tasks}, share_->config,
                                                       share_->address, credentials_->context.get(), alone);
  connections_.push_back(connection);
  connection->open();
  return connection;
}

// While a connection is being opened, no other one is opened if HTTP/2 is enabled: the new connection may serve many calls. max_connections
// applies to each loop, because calls of one loop cannot use idle connections of another loop.
bool RemotePool::may_open(const RemoteCall& call) const {
  if (call.request().upgrade) return true;
  const auto opening = [](const auto& one) { return !one->retired() && !one->alone() && !one->is_open(); };
  if (share_->config.http2 && std::any_of(connections_.begin(), connections_.end(), opening)) return false;
  return common_ < std::max<std::size_t>(share_->config.max_connections, 1);
}

void RemotePool::count() {
  std::size_t common = 0, lasting = 0;
  for (const auto& one : connections_) {
    if (!one->retired()) ++(one->is_full_of_lasting() ? lasting : common);
  }
  // The difference is unsigned, so a decrease is added modulo 2^64.
  common_ = common;
  share_->lasting.fetch_add(lasting - std::exchange(lasting_, lasting), std::memory_order_relaxed);
}

}  // namespace backplane
