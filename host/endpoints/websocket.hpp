// WebSocket (RFC 6455) like golang.org/x/net/websocket: the handshake, and the server's side of the frames. Data frames of the client are
// dropped. A ping gets a pong. A close frame ends the WebSocket.
//
// Thread-safety: the connection's executor.
// Lifetime:      a WebSocket borrows its exchange. end() must have returned before the exchange is destroyed.
// Errors:        an invalid handshake gets an error in plain text. A client that violates the protocol is treated like a client that closes
//                the WebSocket.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "backplane/points/http.hpp"

namespace backplane::endpoints {

// Returns true if the Upgrade and Connection headers request a WebSocket.
bool is_websocket_request(const Exchange& exchange);

// Parses the frames of the client. A piece may contain any part of the frames. The payload of data frames is dropped.
class FrameParser {
 public:
  enum class Event { kNeedsMore, kPing, kClose, kBroken };
  // Returns the next event in the bytes that feed() has added.
  Event next();
  void feed(std::string_view bytes) { input_.append(bytes); }
  // Returns the unmasked payload of the last control frame.
  const std::string& payload() const noexcept { return payload_; }

 private:
  struct Head {
    std::size_t size = 0;  // the size of the head; 0: the head is incomplete
    unsigned opcode = 0;
    std::uint64_t length = 0;
    std::string mask;
  };
  Head read_head() const;
  std::string_view left() const noexcept { return std::string_view(input_).substr(at_); }
  // Removes all parsed bytes at once, which is cheaper than for each frame.
  Event needs_more();

  std::string input_;
  std::size_t at_ = 0;      // the index of the first byte that is not parsed yet
  std::uint64_t skip_ = 0;  // the remaining bytes of a data frame's payload
  std::string payload_;
};

class WebSocket {
 public:
  explicit WebSocket(Exchange& exchange) : exchange_(exchange) {}

  // Responds to the handshake. Returns false if the handshake was refused; the exchange has ended then.
  Task<bool> open();
  // Reads until the client closes the WebSocket or the connection, then calls `closed` once.
  void listen(std::function<void()> closed);
  // Inserts the head of a text or binary frame at `first`. The pieces from `first` on become one message.
  static void frame(std::vector<SharedBytes>& pieces, std::size_t first, bool text);
  // Sends a close frame, ends the response, and waits for the listener.
  Task<void> end();

 private:
  Task<void> refuse(int code, std::string text);
  Task<void> listen_fenced(std::function<void()> closed);
  Task<void> read_loop();

  Exchange& exchange_;
  bool listening_ = false;
  Promise<bool> listening_done_;
};

}  // namespace backplane::endpoints
