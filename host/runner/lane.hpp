// A socket between two processes for one call at a time, and for the nested calls that are made for it.
// The side that has opened the lane makes the calls. While the other side executes a call, it may call back, and so on. So at most one
// frame is in transit, and each side knows which types the next frame may have.
//
// Thread-safety: one thread at a time; shut_down() by any thread.
// Lifetime:      the destructor closes the socket.
// Errors:        see Outcome; after any other outcome than kFrame the lane must be closed.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "runner/frame.hpp"

namespace backplane::runner {

struct Frame {
  FrameHead head;
  std::string payload;
};

class Lane {
 public:
  using Clock = std::chrono::steady_clock;
  enum class Outcome : std::uint8_t {
    kFrame,
    kTimeout,
    kClosed,   // by the other side, or shut_down()
    kInvalid,  // the received bytes are not exactly one frame
  };

  // Takes ownership of the socket.
  explicit Lane(int socket) noexcept : socket_(socket) {}
  ~Lane();
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  Outcome send(const FrameHead& head, std::string_view payload, Clock::time_point until) const;
  // Without `until`: waits as long as the lane is open.
  Outcome receive(Frame& frame, std::optional<Clock::time_point> until) const;
  // Ends waits on both sides.
  void shut_down() const noexcept;

 private:
  Outcome send_bytes(std::string_view bytes, Clock::time_point until) const;
  // Receives at least one byte.
  Outcome receive_some(char* to, std::size_t most, std::size_t& got, std::optional<Clock::time_point> until) const;
  bool wait(short events, std::optional<Clock::time_point> until) const;

  const int socket_;
};

}  // namespace backplane::runner
