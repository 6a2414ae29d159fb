// The interfaces between a protocol session and its connection. A session receives and produces bytes, and does not use the socket.
//
// Thread-safety: all methods are called on the connection's executor, except PeerTrust::accepted(), which is thread-safe.
// Lifetime:      the session must not use its SessionTransport after connection_lost().
// Errors:        the methods of a session never fail. The session sends an error to the peer, and finished() returns true if the connection
//                is to be closed.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "backplane/points/http.hpp"

namespace backplane {

// Whether the peer's certificate is trusted at present. The result may change while the connection is open.
class PeerTrust {
 public:
  virtual ~PeerTrust() = default;
  virtual bool accepted() const = 0;
};

// The peer of a connection. Exchanges share it, and may outlive the connection.
struct PeerInfo {
  std::string remote_address;              // "ip:port"
  std::shared_ptr<const PeerTrust> trust;  // for client certificates; null: the peer has sent no certificate
  std::shared_ptr<const PeerTrust>
      proxy_trust;              // for front proxies; null: the server has no front proxy CA, or the peer has sent no certificate
  PeerCertificate certificate;  // must be used only while `trust` or `proxy_trust` accepts it
  std::chrono::system_clock::time_point certificate_expires = std::chrono::system_clock::time_point::max();
};

// The session calls these methods of its connection.
class SessionTransport {
 public:
  virtual ~SessionTransport() = default;
  // The connection is to call fill() and finished() soon, but never inside this call.
  virtual void want_flush() = 0;
  // wants_input() may have become true.
  virtual void want_read() = 0;
  // Checks the socket. Returns true if the peer has closed the connection, even if the session has not been notified yet.
  virtual bool peer_gone() const noexcept { return false; }
};

// The protocol of one connection. A session converts received bytes to exchanges, and their responses to bytes.
class HttpSession {
 public:
  using Clock = std::chrono::steady_clock;
  virtual ~HttpSession() = default;

  virtual void receive(std::string_view bytes) = 0;
  // The peer has closed its direction of the connection.
  virtual void receive_end() = 0;
  // If false, the connection must not read from the socket until want_read() is called.
  virtual bool wants_input() const = 0;
  // Appends output to `out` until `out` has about `budget` bytes or there is no more output.
  virtual void fill(std::string& out, std::size_t budget) = 0;
  // True if the session accepts no more input. The connection sends the output of fill() and then closes.
  virtual bool finished() const = 0;
  // The connection is lost. Exchanges in progress are notified.
  virtual void connection_lost() = 0;
  // The session accepts no new requests. finished() becomes true when the running requests have ended.
  virtual void drain() = 0;
  // Checks the timeouts. Called periodically, at least about once a second.
  virtual void tick(Clock::time_point now) = 0;
  // True if no exchange is in progress.
  virtual bool idle() const = 0;
};

}  // namespace backplane
