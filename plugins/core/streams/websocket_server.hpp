// The server's end of a WebSocket (RFC 6455) whose messages are read: handshake, frames in, frames out.
//
// Thread-safety: pure functions, and readers of one executor.
// Errors:        a client that violates the protocol is treated as one that closes: kBroken.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/points/http.hpp"

namespace backplane::core {

// Whether the Upgrade and Connection headers request a WebSocket.
bool is_websocket_request(const Exchange& exchange);
// The protocols that Sec-WebSocket-Protocol lists, in order.
std::vector<std::string> websocket_protocols(const Exchange& exchange);

// The error that prevents the response 101 to the handshake; `code` 0: none.
struct HandshakeProblem {
  int code = 0;
  std::string text;
};
HandshakeProblem check_handshake(const Exchange& exchange);
// Sends the response 101, with `protocol` if it is not empty.
Task<Status> accept_websocket(Exchange& exchange, std::string protocol);

// Parses the client's frames, from pieces of any size.  Data is forwarded in pieces: no message is buffered.
class MessageReader {
 public:
  static constexpr std::size_t kMaxPiece = 32 << 10;
  struct Event {
    enum class Kind : unsigned char { kNeedsMore, kData, kPing, kClose, kBroken };
    Kind kind = Kind::kNeedsMore;
    bool first = false;  // of kData: the piece begins a message
    bool last = false;   // of kData: the piece ends a message
    bool text = false;   // of kData: the message is text
    std::string data;    // of kData and kPing
  };
  void feed(std::string_view bytes);
  Event next();

 private:
  bool read_head(Event& out);
  bool read_control(Event& out, unsigned opcode, std::size_t head, std::size_t length);
  std::string unmasked(std::size_t size);

  std::string input_;
  std::size_t at_ = 0;
  std::uint64_t left_ = 0;  // the number of bytes of the data frame that have not been read
  bool in_data_ = false, first_ = false, final_ = false, text_ = false;
  bool in_message_ = false, broken_ = false;
  std::string mask_;
  std::size_t masked_ = 0;  // number of bytes of the frame that unmasked() has returned
};

// Opcodes of sent frames.
constexpr unsigned kTextFrame = 1, kBinaryFrame = 2, kCloseFrame = 8, kPongFrame = 10;
std::string frame(unsigned opcode, std::string_view payload);
// The close frame for a normal closure.
std::string close_frame();

}  // namespace backplane::core
