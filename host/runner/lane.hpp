// A socket between two processes for one call at a time, with its nested calls.
//
// The side that has opened the lane makes the calls. While the other side executes a call, it may make a nested call over the same lane,
// and that call may again have a nested call. At each moment only one side may send, so at most one frame is in transit.
//
// Thread-safety: one thread at a time; shut_down() by any thread.
// Lifetime:      the destructor closes the socket.
// Errors:        see Outcome. After an outcome other than kFrame, the lane must be closed.
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
    kClosed,   // the other side has closed the socket, or shut_down() was called
    kInvalid,  // the received bytes are not exactly one frame
  };

  // Takes ownership of the socket.
  explicit Lane(int socket) noexcept : socket_(socket) {}
  ~Lane();
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  Outcome send(const FrameHead& head, std::string_view payload, Clock::time_point until) const;
  // Without `until`, receive() waits until a frame arrives or the lane is closed.
  Outcome receive(Frame& frame, std::optional<Clock::time_point> until) const;
  // Ends the waits for this lane on both sides.
  void shut_down() const noexcept;

 private:
  Outcome send_bytes(std::string_view bytes, Clock::time_point until) const;
  // Receives at least one byte.
  Outcome receive_some(char* to, std::size_t most, std::size_t& got, std::optional<Clock::time_point> until) const;
  bool wait(short events, std::optional<Clock::time_point> until) const;

  const int socket_;
};

}  // namespace backplane::runner
