// One socket between two processes, on which one call is under way at a time, with the calls that are made for it.
//
// The side that has opened it calls. The other side, while it works, may call back; the first side, while it works for that call, too. So
// at most one frame is under way, and each side knows what the next one may be.
//
// Thread-safety: one thread at a time; shut_down() by any thread.
// Lifetime:      the destructor closes the socket.
// Errors:        see Outcome; after any but kFrame the lane is of no more use.
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
    kInvalid,  // what came is not a frame, or more than one
  };

  // Takes ownership of the socket.
  explicit Lane(int socket) noexcept : socket_(socket) {}
  ~Lane();
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  Outcome send(const FrameHead& head, std::string_view payload, Clock::time_point until) const;
  // Without `until`: waits as long as the lane is open.
  Outcome receive(Frame& frame, std::optional<Clock::time_point> until) const;
  // Ends what waits on either side.
  void shut_down() const noexcept;

 private:
  Outcome send_bytes(std::string_view bytes, Clock::time_point until) const;
  // Some bytes, at least one.
  Outcome receive_some(char* to, std::size_t most, std::size_t& got, std::optional<Clock::time_point> until) const;
  bool wait(short events, std::optional<Clock::time_point> until) const;

  const int socket_;
};

}  // namespace backplane::runner
