// A listening socket and its connections, distributed over the loops of a pool: the common part of the secure and the Unix server.
//
// Thread-safety: every method from any thread; wait_closed() on an executor.
// Lifetime:      loops and handler outlive it. Before destruction: stop_listening(), then wait_closed(), or force_close() and
//                wait_closed().
// Errors:        none after listen().
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
  // Completes an accepted socket (TLS contexts, socket options); runs on the accepting loop.
  using Prepare = std::function<void(AcceptedSocket&)>;

  HttpServer(LoopPool& loops, HttpHandler& root, ConnectionOptions options, HttpLimits limits, std::size_t max_connections);
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  ~HttpServer();

  void listen(FileDescriptor listening, Prepare prepare);
  // Connections that are complete in the kernel are still accepted; `done` runs when the socket is closed.
  void stop_listening(std::function<void()> done = {});
  // From now on, peers that do not read their responses are waited for at most HttpLimits::last_write_timeout.
  void hurry();
  void begin_drain();
  // True when every connection has closed and every handler has ended; false at `deadline`.
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
  std::size_t next_loop_ = 0;  // used on the accepting loop
  std::mutex mutex_;
  std::shared_ptr<Acceptor> acceptor_;
};

}  // namespace backplane
