// WebSocket (RFC 6455) as golang.org/x/net/websocket serves it: the handshake, and frames of the server's side. Data frames of the client
// are dropped; pings get a pong, and a close frame ends the WebSocket.
//
// Thread-safety: the connection's executor.
// Lifetime:      a WebSocket borrows its exchange; end() must have returned before the exchange is destroyed.
// Errors:        an invalid handshake gets an error in plain text; a client that violates the protocol is treated as one that closes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "backplane/points/http.hpp"

namespace backplane::endpoints {

// Whether the request's Upgrade and Connection headers request a WebSocket.
bool is_websocket_request(const Exchange& exchange);

// Parses the frames of the client, which may arrive in any pieces.  The payload of data frames is dropped.
class FrameParser {
 public:
  enum class Event { kNeedsMore, kPing, kClose, kBroken };
  // The next event in the bytes of feed().
  Event next();
  void feed(std::string_view bytes) { input_.append(bytes); }
  // The unmasked payload of the last ping.
  const std::string& payload() const noexcept { return payload_; }

 private:
  struct Head {
    std::size_t size = 0;  // of the head itself; 0: more is needed
    unsigned opcode = 0;
    std::uint64_t length = 0;
    std::string mask;
  };
  Head read_head() const;
  std::string_view left() const noexcept { return std::string_view(input_).substr(at_); }
  // Removes the parsed bytes: once for all frames, not for each frame.
  Event needs_more();

  std::string input_;
  std::size_t at_ = 0;      // of the bytes that are not parsed yet
  std::uint64_t skip_ = 0;  // of a data frame's payload
  std::string payload_;
};

class WebSocket {
 public:
  explicit WebSocket(Exchange& exchange) : exchange_(exchange) {}

  // Responds to the handshake. False: the handshake was refused, and the exchange is over.
  Task<bool> open();
  // Reads until the client closes the WebSocket or the connection; then `closed` is called, once.
  void listen(std::function<void()> closed);
  // Puts the head of a text or binary frame before the pieces from `first` on: they are one message.
  static void frame(std::vector<SharedBytes>& pieces, std::size_t first, bool text);
  // Sends a close frame, ends the connection, and waits for the listener.
  Task<void> end();

 private:
  Task<void> refuse(int code, std::string text);
  Task<void> listen_fenced(std::function<void()> closed);
  Task<void> hear();

  Exchange& exchange_;
  bool listening_ = false;
  Promise<bool> heard_out_;
};

}  // namespace backplane::endpoints
