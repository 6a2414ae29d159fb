// The connections of one loop to one server, and the calls that wait for a connection.
//
// A client has a pool for each loop that calls it, so that a call and its response stay on the caller's thread.
// Thread-safety: RemotePool is used on its loop only. PoolShare may be used on any loop.
// Lifetime:      shared by the client and the work that is posted to the loop; the loop outlives the pool.
// Errors:        reported to the calls.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <vector>

#include "client/call_deadlines.hpp"
#include "client/client_credentials.hpp"
#include "client/remote_connection.hpp"
#include "http/call_metrics.hpp"

namespace backplane {

// Data that the pools of one client share. Each pool adds the number of its connections to `lasting`, so a pool may read a sum that is
// slightly old.
struct PoolShare {
  PoolShare(ClientConfig config_in, RemoteAddress address_in, TaskGroup& tasks_in)
      : config(std::move(config_in)), address(std::move(address_in)), tasks(tasks_in) {}

  const ClientConfig config;
  const RemoteAddress address;
  TaskGroup& tasks;
  std::atomic<std::size_t> lasting{0};  // the number of connections that only lasting calls use
  CallSeries series{host_of(config.server)};

 private:
  static std::string_view host_of(std::string_view server) {
    const auto scheme = server.find("://");
    return scheme == std::string_view::npos ? server : server.substr(scheme + 3);
  }
};

class RemotePool final : public RemoteConnection::Owner, private CallCarrier, public std::enable_shared_from_this<RemotePool> {
 public:
  RemotePool(IoLoop& loop, std::shared_ptr<PoolShare> share);
  ~RemotePool() override;

  IoLoop& loop() noexcept { return loop_; }
  void submit(RemoteCallRef call, std::shared_ptr<const ClientCredentials> credentials);
  void close();

  // RemoteConnection::Owner
  void connection_ready(RemoteConnection&) override { serve(); }
  void room_changed() override {
    if (lasting_ > 0) count();
  }
  bool calls_wait() const noexcept override { return !waiting_.empty(); }
  void connection_closed(RemoteConnection& connection, std::vector<RemoteCallRef> again, const Status& why) override;

 private:
  void submit(RemoteCallRef call);
  void call_read(RemoteCall&, std::size_t) override {}
  void call_has_body(RemoteCall&) override {}
  void call_cancelled(RemoteCall& call) override;
  void use(std::shared_ptr<const ClientCredentials> credentials);
  void serve();
  // Starts or fails the first waiting call. Returns false if the call must wait.
  bool serve_one();
  void serve_by(RemoteConnection& connection, const RemoteCallRef& call);
  RemoteConnection* find_free() const;
  std::shared_ptr<RemoteConnection> open(bool alone);
  bool may_open(const RemoteCall& call) const;
  void count();

  IoLoop& loop_;
  const std::shared_ptr<PoolShare> share_;
  const std::shared_ptr<CallDeadlines> deadlines_;
  std::shared_ptr<const ClientCredentials> credentials_;
  std::vector<std::shared_ptr<RemoteConnection>> connections_;
  std::deque<RemoteCallRef> waiting_;
  std::size_t cancelled_waiters_ = 0;  // waiting calls that were cancelled since the last clean-up of waiting_
  std::size_t common_ = 0;             // connections that are not retired and not used by lasting calls only
  std::size_t lasting_ = 0;            // what this pool has added to PoolShare::lasting
  bool closed_ = false;
};

}  // namespace backplane
