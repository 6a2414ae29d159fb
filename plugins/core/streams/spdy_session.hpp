// The client's end of a SPDY/3.1 connection to a kubelet. Opens streams, and converts between bytes and events; it uses no sockets.
//
// As in Kubernetes' servers, TCP provides the flow control, and WINDOW_UPDATE and SETTINGS are ignored. Headers of replies are not needed,
// and are skipped.
// Thread-safety: one executor.
// Errors:        a peer that violates the protocol, or sends a control frame larger than kMaxControl, ends the session: kBroken.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "streams/spdy_headers.hpp"

namespace backplane::core::spdy {

class Session {
 public:
  static constexpr std::size_t kMaxControl = 64 << 10;
  static constexpr std::size_t kMaxPiece = 32 << 10;  // of data, in one event or frame

  struct Event {
    enum class Kind : unsigned char {
      kNeedsMore,
      kOpened,  // the peer has accepted the stream
      kData,
      kEnded,   // the peer has closed its direction of the stream
      kBroken,  // there are no further events
    };
    Kind kind = Kind::kNeedsMore;
    std::uint32_t stream = 0;
    std::string data;
  };

  // Opens a stream with one header.
  std::uint32_t open(std::string_view name, std::string_view value);
  void send(std::uint32_t stream, std::string_view data);
  // Closes this side of the stream; further calls have no effect.
  void end(std::uint32_t stream);
  void ping();

  void feed(std::string_view bytes);
  Event next();
  // Returns the bytes to send to the peer that have been produced since the last call.
  std::string take_output();

 private:
  struct Stream {
    bool sends = true;
    bool receives = true;
  };
  bool read_control(Event& out);
  bool read_data(Event& out);
  bool on_control(unsigned type, unsigned flags, std::string_view body, Event& out);
  bool end_of(std::uint32_t stream, bool of_both, Event& out);
  void control(unsigned type, unsigned flags, std::string_view body);
  static Event broken();

  HeaderWriter headers_;
  std::map<std::uint32_t, Stream> streams_;
  std::string_view unread() const noexcept { return std::string_view(input_).substr(at_); }

  std::string input_, output_;
  std::size_t at_ = 0;  // bytes before it have been read
  std::uint32_t next_stream_ = 1, next_ping_ = 1;
  std::uint32_t data_stream_ = 0;  // stream of the data frame that is being read
  std::size_t data_left_ = 0;
  bool in_data_ = false, data_ends_ = false;
  bool broken_ = false;
};

}  // namespace backplane::core::spdy
