// The protocol of one connection to another server. A session converts calls to output bytes, and input bytes to responses. It uses no
// socket.
//
// Thread-safety: the client's loop only.
// Lifetime:      the connection calls lost() before it destroys the session.
// Errors:        end the calls that they affect.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "client/remote_call.hpp"

namespace backplane {

using RemoteCallRef = std::shared_ptr<RemoteCall>;

// The session calls these methods of its connection.
class RemotePort {
 public:
  virtual ~RemotePort() = default;
  // The connection is to call fill() and finished() soon.
  virtual void want_flush() = 0;
  // wants_input() may have become true.
  virtual void want_read() = 0;
  // can_take() may have become true.
  virtual void has_room() = 0;
  // The connection is to call fill() again after `delay`, even if there is no other output.
  virtual void flush_after(std::chrono::nanoseconds delay) = 0;
};

class RemoteSession {
 public:
  virtual ~RemoteSession() = default;
  // Whether one more call may be started now.
  virtual bool can_take() const = 0;
  // True if the session runs one call at a time. The connection then sends the request of a call at once, because no later request can be
  // sent with it.
  virtual bool runs_one_call() const { return false; }
  virtual void start(RemoteCallRef call) = 0;
  virtual void receive(std::string_view bytes) = 0;
  // The server has closed its direction of the connection.
  virtual void receive_end() = 0;
  virtual bool wants_input() const = 0;
  // Appends output until `out` holds about `budget` bytes.
  virtual void fill(std::string& out, std::size_t budget) = 0;
  // True if the connection is to be closed: it is broken, or no call runs and none may be started.
  virtual bool finished() const = 0;
  virtual bool idle() const = 0;
  // True if the session runs calls and all of them are lasting.
  virtual bool runs_only_lasting() const = 0;
  // The session accepts no more calls. finished() becomes true when the running calls have ended.
  virtual void retire() = 0;
  // Sends a PING; without effect if the protocol has none.
  virtual void ping() {}
  // The connection is lost. Returns the calls that may be retried: calls that the server has refused, and idempotent calls without a
  // response. The other calls fail with `why`.
  virtual std::vector<RemoteCallRef> lost(const Status& why) = 0;
};

std::unique_ptr<RemoteSession> make_http1_client_session(RemotePort& port, std::string authority);

struct Http2ClientSettings {
  std::uint32_t stream_window, connection_window;
  std::string_view scheme = "https";
};
std::unique_ptr<RemoteSession> make_http2_client_session(RemotePort& port, std::string authority, Http2ClientSettings settings);

// Returns whether the request is idempotent: a GET, HEAD or OPTIONS request without streamed body and upgrade.
bool may_be_repeated(const HttpCall& call) noexcept;

}  // namespace backplane
