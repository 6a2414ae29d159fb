// The interfaces between a protocol session and its connection: bytes in, bytes out, no sockets.
//
// Thread-safety: everything here is called on the connection's executor.
// Lifetime:      a Connection outlives its session's use of it: after connection_lost() a session touches it no more.
// Errors:        calls of a session never fail; the session sends an error to the peer, and finished() returns true when the connection is
// to be closed.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "backplane/points/http.hpp"

namespace backplane {

// Whether the peer's certificate is trusted now; the result may change while the connection is open.
class PeerTrust {
 public:
  virtual ~PeerTrust() = default;
  virtual bool accepted() const = 0;
};

// The peer of a connection.  Exchanges share it and may outlive the connection.
struct PeerInfo {
  std::string remote_address;              // "ip:port"
  std::shared_ptr<const PeerTrust> trust;  // null: no certificate was shown
  std::shared_ptr<const PeerTrust>
      proxy_trust;              // whether it is a front proxy's; null: no front proxies are known, or no certificate was shown
  PeerCertificate certificate;  // valid only while one of the two accepts the certificate
  std::chrono::system_clock::time_point certificate_expires = std::chrono::system_clock::time_point::max();
};

// The session's interface to its connection.
class SessionTransport {
 public:
  virtual ~SessionTransport() = default;
  // Requests a call of fill() and finished() soon, never inside this call.
  virtual void want_flush() = 0;
  // wants_input() may have become true.
  virtual void want_read() = 0;
  // Whether the peer has closed the connection, even if the session has not noticed it yet: checks the socket.
  virtual bool peer_gone() const noexcept { return false; }
};

// One connection's protocol: turns received bytes into exchanges and their responses into bytes.
class HttpSession {
 public:
  using Clock = std::chrono::steady_clock;
  virtual ~HttpSession() = default;

  virtual void receive(std::string_view bytes) = 0;
  // The peer has closed its direction of the connection.
  virtual void receive_end() = 0;
  // False: leave the bytes in the socket until want_read().
  virtual bool wants_input() const = 0;
  // Appends what is to be sent to `out` until it holds about `budget` bytes or nothing is left.
  virtual void fill(std::string& out, std::size_t budget) = 0;
  // The session reads and sends nothing more: the connection sends the bytes of fill(), then closes.
  virtual bool finished() const = 0;
  // The connection is lost; exchanges in progress are notified.
  virtual void connection_lost() = 0;
  // Accepts no new requests; finished() when the running ones have ended.
  virtual void drain() = 0;
  // Checks deadlines; called about once a second.
  virtual void tick(Clock::time_point now) = 0;
  // No exchange is in progress.
  virtual bool idle() const = 0;
};

}  // namespace backplane
