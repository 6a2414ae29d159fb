// The connections of one loop, the buffers that they share, and the timer that checks their timeouts.
//
// Buffers belong to the loop and not to the connections, so that an idle connection needs memory only for its TLS state.
//
// Thread-safety: the loop's thread only, except for the constructor, adopt() and connections().
// Lifetime:      shared with functions that are posted to the loop. The loop and the handler outlive the object.
// Errors:        none.
#pragma once

#include <atomic>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/io_loop.hpp"
#include "http/handler_runner.hpp"
#include "transport/sockets.hpp"

namespace backplane {

class Connection;
class TlsContexts;

// Options of the connections of a server.
struct ConnectionOptions {
  std::chrono::milliseconds handshake_timeout{10'000};
  bool plain = false;  // a Unix socket: HTTP/1.1 without TLS
  bool http2 = true;
};

// Counters that all loops of a server share.
struct TransportCounters {
  std::atomic<std::uint64_t> accepted{0};
  std::atomic<std::uint64_t> refused{0};  // connections beyond the maximum number
  std::atomic<std::uint64_t> tls_handshake_errors{0};
};

// An accepted connection.
struct AcceptedSocket {
  FileDescriptor fd;
  int family = 0;
  std::string remote_address;
  std::string local_address;                    // without port
  std::shared_ptr<const TlsContexts> contexts;  // null on Unix sockets
};

class ServerLoop final : public std::enable_shared_from_this<ServerLoop> {
 public:
  ServerLoop(IoLoop& loop, HttpHandler& root, ConnectionOptions options, HttpLimits limits, std::shared_ptr<TransportCounters> counters);
  ~ServerLoop();

  // Passes a connection to this loop. May be called from any thread.
  void adopt(AcceptedSocket socket);
  std::size_t connections() const noexcept { return count_.load(std::memory_order_relaxed); }
  IoLoop& loop() noexcept { return loop_; }

  // The server is about to stop: limits the write timeout to HttpLimits::last_write_timeout.
  void shorten_write_timeouts();
  void drain();
  void close_all();
  // Calls `callback` when no connection is open and no handler runs; immediately if that is already true.
  void when_idle(std::function<void()> callback);

  // ---- for connections
  HandlerRunner& runner() noexcept { return runner_; }
  const ConnectionOptions& options() const noexcept { return options_; }
  TransportCounters& counters() noexcept { return *counters_; }
  bool draining() const noexcept { return draining_; }
  // Calls Connection::flush() after the functions that are already posted to the loop have run. If many connections wait for flush(), the
  // loop runs other functions in between.
  void flush_later(std::shared_ptr<Connection> connection);
  void remove(Connection& connection);
  std::vector<char>& read_buffer() noexcept { return read_buffer_; }
  std::vector<char>& plain_buffer() noexcept { return plain_buffer_; }
  std::string& output_text() noexcept { return output_text_; }
  std::string& output_records() noexcept { return output_records_; }

 private:
  void begin(AcceptedSocket socket);
  void post_flush();
  void flush_all();
  void arm_ticker();
  void tick();
  void check_idle();

  IoLoop& loop_;
  HandlerRunner runner_;
  const ConnectionOptions options_;
  std::shared_ptr<TransportCounters> counters_;
  boost::asio::steady_timer ticker_;
  std::unordered_map<Connection*, std::shared_ptr<Connection>> connections_;
  // Weak references, because a connection shares this object and the loop may stop before flush_all() runs. A connection that has been
  // destroyed has no bytes to send.
  std::vector<std::weak_ptr<Connection>> to_flush_;
  std::vector<std::weak_ptr<Connection>> flushing_;
  std::size_t flushed_ = 0;  // how many connections of flushing_ have been flushed
  bool flush_posted_ = false;
  std::vector<std::function<void()>> idle_waiters_;
  std::vector<char> read_buffer_;
  std::vector<char> plain_buffer_;
  std::string output_text_;
  std::string output_records_;
  std::atomic<std::size_t> count_{0};
  std::chrono::milliseconds tick_interval_;
  bool ticking_ = false;
  bool draining_ = false;
  bool closing_ = false;
};

}  // namespace backplane
