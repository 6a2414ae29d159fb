// A listening socket and its connections, which are distributed over the loops of a pool. SecureServer and UnixServer use it.
//
// Thread-safety: listen() is called once. The other methods may be called from any thread, wait_closed() on an executor.
// Lifetime:      the loops and the handler outlive the server. Before the server is destroyed, its owner calls stop_listening() and
//                wait_closed(). If wait_closed() returns false, the owner calls force_close() and again wait_closed().
// Errors:        none are returned. A listening socket that fails aborts the process (see Acceptor).
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "base/io_loop.hpp"
#include "transport/acceptor.hpp"
#include "transport/server_loop.hpp"

namespace backplane {

class HttpServer {
 public:
  // Completes an accepted socket: sets the TLS contexts and the socket options. Runs on the accepting loop.
  using Prepare = std::function<void(AcceptedSocket&)>;

  HttpServer(LoopPool& loops, HttpHandler& root, ConnectionOptions options, HttpLimits limits, std::size_t max_connections);
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  ~HttpServer();

  void listen(FileDescriptor listening, Prepare prepare);
  // Stops listening. Connections that the kernel has completed are still accepted. `done` runs when the listening socket is closed.
  void stop_listening(std::function<void()> done = {});
  // From now on, a peer that does not read its response is disconnected after HttpLimits::last_write_timeout, if that is shorter than
  // write_timeout.
  void shorten_write_timeouts();
  void begin_drain();
  // Returns true when all connections have closed and all handlers have ended; false at `deadline`.
  Task<bool> wait_closed(std::chrono::steady_clock::time_point deadline);
  void force_close();
  std::size_t active_connections() const;
  const TransportCounters& counters() const noexcept { return *counters_; }

 private:
  void accepted(AcceptedSocket socket, const Prepare& prepare);
  void on_every_loop(void (ServerLoop::*what)());

  LoopPool& pool_;
  const std::size_t max_connections_;
  std::shared_ptr<TransportCounters> counters_;
  std::vector<std::shared_ptr<ServerLoop>> loops_;
  std::size_t next_loop_ = 0;  // used on the accepting loop only
  std::mutex mutex_;
  std::shared_ptr<Acceptor> acceptor_;
};

}  // namespace backplane
