// HTTPS on one address, with HTTP/1.1 and HTTP/2. TLS 1.2 and 1.3 are enabled by default.
//
// The host shuts the server down in this order:
//   stop_listening() → begin_drain() → wait_closed(deadline) → force_close() → wait_closed(deadline)
//
// Thread-safety: start() is called once. The other methods may be called from any thread, wait_closed() on an executor.
// Lifetime:      the loops and the handler outlive the server. wait_closed() must have returned true before the server is destroyed.
// Errors:        the error of start() names the option, file or address that cannot be used.
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

  // Loads the certificates, binds the address and accepts connections.
  Status start();
  // Returns the bound port; 0 before start().
  std::uint16_t port() const noexcept { return port_; }
  // Stops listening, and stops the periodic checks of the certificate files. When `done` runs, the listening socket is closed. Open
  // connections continue.
  void stop_listening(std::function<void()> done = {});
  // From now on, a peer that does not read its response is disconnected after HttpLimits::last_write_timeout, if that is shorter than
  // write_timeout.
  void shorten_write_timeouts() { server_.shorten_write_timeouts(); }
  // Ends connections as soon as their running requests have ended. HTTP/2 connections send GOAWAY; HTTP/1.1 connections send "Connection:
  // close" with the running response. Idle connections are closed.
  void begin_drain() { server_.begin_drain(); }
  Task<bool> wait_closed(std::chrono::steady_clock::time_point deadline) { return server_.wait_closed(deadline); }
  void force_close() { server_.force_close(); }
  std::size_t active_connections() const { return server_.active_connections(); }
  const TransportCounters& counters() const noexcept { return server_.counters(); }
  // Checks the certificate files now. Returns true if new contents are in use.
  bool reload_certificates() { return watch_->refresh(); }

 private:
  const ServingOptions options_;
  LoopPool& loops_;
  HttpServer server_;
  std::shared_ptr<CertificateWatch> watch_;
  std::uint16_t port_ = 0;
};

}  // namespace backplane
