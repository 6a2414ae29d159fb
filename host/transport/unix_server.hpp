// Plain HTTP/1.1 on a Unix socket that only this user may open. The host uses it as debug socket.
//
// Thread-safety, Lifetime: like SecureServer.
// Errors:        start() reports why the path cannot be used.
#pragma once

#include <string>

#include "transport/http_server.hpp"

namespace backplane {

class UnixServer {
 public:
  UnixServer(std::string path, LoopPool& loops, HttpHandler& root, HttpLimits limits = {});
  ~UnixServer();

  Status start();
  // Removes the socket file and stops listening.
  void stop_listening(std::function<void()> done = {});
  void begin_drain() { server_.begin_drain(); }
  Task<bool> wait_closed(std::chrono::steady_clock::time_point deadline) { return server_.wait_closed(deadline); }
  void force_close() { server_.force_close(); }
  std::size_t active_connections() const { return server_.active_connections(); }

 private:
  void unlink_path();

  const std::string path_;
  bool bound_ = false;
  HttpServer server_;
};

}  // namespace backplane
