// One accepted connection. It performs TLS, passes the decrypted bytes to an HttpSession, enforces timeouts and closes the socket.
//
// Thread-safety: the loop's thread only.
// Lifetime:      shared by its ServerLoop, until close(), and by pending waits on the socket.
// Errors:        an error of the socket or of TLS calls close(), which notifies the session.
#pragma once

#include <boost/asio/generic/stream_protocol.hpp>
#include <memory>
#include <optional>
#include <string>

#include "http/session.hpp"
#include "transport/server_loop.hpp"
#include "transport/tls_stream.hpp"

namespace backplane {

class Connection final : public SessionTransport, public std::enable_shared_from_this<Connection> {
 public:
  using Clock = std::chrono::steady_clock;
  Connection(ServerLoop& owner, AcceptedSocket socket);
  ~Connection() override;

  void start();
  // SessionTransport
  void want_flush() override;
  void want_read() override;
  bool peer_gone() const noexcept override;

  // Sends the session's output with as few writes as possible.
  void flush();
  void drain();
  void tick(Clock::time_point now);
  // Closes the socket immediately; unsent bytes are lost.
  void close();

 private:
  enum class State { kHandshake, kOpen, kLingering, kClosed };

  void arm_read();
  void arm_write();
  void on_readable();
  void receive_some();
  void received(std::string_view bytes);
  // Continues the TLS handshake and sends its output immediately. After the handshake, read_records() processes the rest of the input.
  void continue_handshake(std::string_view bytes);
  void read_records();
  void open_session(bool http2, std::shared_ptr<const PeerInfo> peer);
  bool answered_plain_http(std::string_view bytes);
  void peer_ended();
  void handshake_failed(std::string_view why);
  // Returns false if the socket has failed or accepts no more bytes at present; in the latter case, the rest is stored in unsent_.
  bool send(std::string_view bytes);
  bool send_unsent();
  // Sends close_notify, closes the sending direction and waits for the peer to close, at most kLinger. If the socket were closed at once,
  // the kernel could discard sent bytes.
  void linger();

  ServerLoop& owner_;
  const std::shared_ptr<ServerLoop> owner_alive_;
  boost::asio::generic::stream_protocol::socket socket_;
  const std::string remote_address_;
  std::string local_address_;
  std::shared_ptr<const TlsContexts> contexts_;
  std::optional<TlsStream> tls_;
  std::shared_ptr<HttpSession> session_;
  State state_ = State::kHandshake;
  std::string first_bytes_;  // received bytes, until there are enough to detect whether the peer uses TLS
  std::string unsent_;       // bytes that the socket did not accept
  std::size_t unsent_offset_ = 0;
  bool speaks_tls_ = false;
  bool reading_ = false;
  bool writing_ = false;
  bool receiving_ = false;
  bool flush_planned_ = false;
  bool flushing_ = false;
  bool peer_ended_ = false;
  Clock::time_point since_ = Clock::now();  // the start of the state, or the last time a blocked write made progress
};

}  // namespace backplane
