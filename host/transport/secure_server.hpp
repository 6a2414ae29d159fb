// HTTPS on one address: TLS 1.2/1.3, HTTP/1.1 and HTTP/2.
//
// Shutting down, as the host does it:
//   stop_listening() → begin_drain() → wait_closed(deadline) → force_close() → wait_closed(deadline)
//
// Thread-safety: start() once; the rest from any thread, wait_closed() on an executor.
// Lifetime:      loops and handler outlive it; wait_closed() has returned true before it is destroyed.
// Errors:        start() names the option, file or address that cannot be used.
#pragma once

#include <memory>
#include <string>

#include "transport/certificate_watch.hpp"
#include "transport/http_server.hpp"
#include "transport/serving_options.hpp"

namespace backplane {

class SecureServer {
 public:
  SecureServer(ServingOptions options, LoopPool& loops, HttpHandler& root);
  ~SecureServer();

  // Loads the certificates, binds and accepts.
  Status start();
  // The port that is bound, once started.
  std::uint16_t port() const noexcept { return port_; }
  // New connections are refused by the kernel once `done` has run; open ones continue.
  void stop_listening(std::function<void()> done = {});
  // From now on, peers that do not read their responses are waited for at most HttpLimits::last_write_timeout.
  void hurry() { server_.hurry(); }
  // GOAWAY on HTTP/2, Connection: close with the running response on HTTP/1.1; idle connections are closed.
  void begin_drain() { server_.begin_drain(); }
  Task<bool> wait_closed(std::chrono::steady_clock::time_point deadline) { return server_.wait_closed(deadline); }
  void force_close() { server_.force_close(); }
  std::size_t active_connections() const { return server_.active_connections(); }
  const TransportCounters& counters() const noexcept { return server_.counters(); }
  // Checks the certificate files now; true if new contents are in use.
  bool reload_certificates() { return watch_->refresh(); }

 private:
  const ServingOptions options_;
  LoopPool& loops_;
  HttpServer server_;
  std::shared_ptr<CertificateWatch> watch_;
  std::uint16_t port_ = 0;
};

}  // namespace backplane
