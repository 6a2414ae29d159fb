// One connection to another server: name resolution, connect, TLS handshake, and an HTTP/1.1 or HTTP/2 session.
//
// Thread-safety: the client's loop only.
// Lifetime:      the pool and pending socket operations share the connection. The pool removes it when it has closed.
// Errors:        end the calls of the connection. Calls that may be retried on another connection are returned to the pool.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <deque>
#include <memory>
#include <optional>

#include "base/io_loop.hpp"
#include "base/task_group.hpp"
#include "client/remote_session.hpp"
#include "transport/openssl_ptr.hpp"
#include "transport/tls_stream.hpp"

namespace backplane {

// The address of the server and the kind of transport.
struct RemoteAddress {
  std::string host;
  std::string port;
  std::string path;         // of a Unix socket; empty: TCP
  std::string authority;    // "host:port"
  std::string server_name;  // the name that the certificate must have; empty: the certificate is not verified
  bool plain = false;       // no TLS
};
// Errors:        kBadRequest if the scheme is not https, http or unix, if the URL has no host, or if the path of the Unix socket is
//                invalid.
Result<RemoteAddress> parse_server_url(const ClientConfig& config);

class RemoteConnection final : public RemotePort, public std::enable_shared_from_this<RemoteConnection> {
 public:
  // Receives the notifications of its connections; RemotePool implements it.
  class Owner {
   public:
    virtual ~Owner() = default;
    // The connection may take calls.
    virtual void connection_ready(RemoteConnection& connection) = 0;
    // A call has ended, or the server has sent SETTINGS. The connection may then accept another call or be closed.
    virtual void room_changed() = 0;
    // True if calls wait for a connection.
    virtual bool calls_wait() const noexcept = 0;
    // The connection has closed. `again`: the calls to retry on another connection.
    virtual void connection_closed(RemoteConnection& connection, std::vector<RemoteCallRef> again, const Status& why) = 0;
  };
  // `tasks`: runs ClientConfig::dial, if it is set.
  struct Place {
    IoLoop& loop;
    TaskGroup& tasks;
  };
  // `alone`: the connection serves one call, which may upgrade to another protocol.
  RemoteConnection(std::weak_ptr<Owner> owner, Place place, const ClientConfig& config, RemoteAddress address, SSL_CTX* context,
                   bool alone);
  ~RemoteConnection() override;

  void open();
  // Queues the call if the connection is not open yet.
  void take(RemoteCallRef call);
  bool is_open() const noexcept { return session_ != nullptr; }
  bool can_take() const { return !retired_ && !alone_ && (session_ ? session_->can_take() : !closed_ && pending_.empty()); }
  bool idle() const { return session_ && session_->idle(); }
  // True if the connection can accept no other call and all its calls are lasting. Lasting calls may never end.
  bool is_full_of_lasting() const;
  void close(Status why);
  // Accepts no more calls, and closes when the running ones have ended.
  void retire();
  bool retired() const noexcept { return retired_; }
  bool alone() const noexcept { return alone_; }

  // RemotePort
  void want_flush() override;
  void want_read() override { arm_read(); }
  void has_room() override;
  void flush_after(std::chrono::nanoseconds delay) override;

 private:
  using Clock = std::chrono::steady_clock;
  static Task<void> dial(std::shared_ptr<RemoteConnection> self);
  void resolve();
  void connect_unix();
  bool use_socket(int fd, const std::string& what);
  void connected();
  void start_handshake();
  void handshake(std::string_view bytes);
  void opened(bool http2);
  void start(RemoteCallRef call);
  void received_tls(std::string_view bytes);
  void received(std::string_view bytes);
  void received_end();
  void flush();
  bool fill();
  // Sends the bytes in out_. The bytes that the socket does not accept are sent when it is writable again.
  void send();
  std::size_t send_from(std::string_view bytes);
  void arm_write();
  void arm_read();
  void on_readable();
  void arm_timer(std::chrono::nanoseconds time, std::string why, bool only_idle);
  void arm_keep_alive(std::chrono::nanoseconds time);
  void check_alive();

  const std::weak_ptr<Owner> owner_;
  IoLoop& loop_;
  TaskGroup& tasks_;
  const ClientConfig& config_;
  const RemoteAddress address_;
  boost::asio::ip::tcp::resolver resolver_;
  boost::asio::ip::tcp::socket socket_;
  std::optional<TlsStream> tls_;
  CertificateFlaws peer_;
  std::unique_ptr<RemoteSession> session_;
  std::deque<RemoteCallRef> pending_;  // calls that wait for the session
  std::string out_;                    // bytes for the socket; the first sent_ bytes have been sent
  std::size_t sent_ = 0;
  std::function<void()> cancel_timer_;
  std::function<void()> cancel_keep_alive_;
  Clock::time_point last_received_{}, pinged_{};  // when bytes last arrived, and when the last PING was sent
  bool reading_ = false;
  bool writing_ = false;      // the socket is not writable
  bool cannot_send_ = false;  // sending has failed; the received data must still be read
  bool flush_planned_ = false;
  bool closed_ = false;
  Status closed_why_;  // the error of calls that take() gets after the end; open() may close the connection before it returns
  bool retired_ = false;
  const bool alone_;
};

}  // namespace backplane
