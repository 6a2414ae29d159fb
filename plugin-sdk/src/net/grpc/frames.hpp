// gRPC's length-prefixed messages.
//
// Thread-safety: values.
// Errors:        FrameReader::problem().
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "backplane/net/grpc.hpp"

namespace backplane::grpc {

// The byte 0 ("not compressed"), the size in four bytes, and the message.
inline constexpr std::size_t kFramePrefix = 5;
void append_frame(std::string& out, std::string_view message);
// The frame of one message, in the message's memory if that has room.
std::string frame_of(std::string message);
// The length of the frame at the start of `bytes`; 0: it does not show yet. A compressed message, which FrameReader refuses, has a length
// beyond every limit.
std::size_t length_of_frame(std::string_view bytes) noexcept;

class FrameReader {
 public:
  explicit FrameReader(std::size_t max_bytes) : max_bytes_(max_bytes) {}
  void add(std::string bytes);
  // The first complete message of the added bytes; nullopt also if there is a problem.
  std::optional<std::string> take();
  const std::optional<CallStatus>& problem() const noexcept { return problem_; }
  // Bytes of an incomplete message.
  bool has_rest() const noexcept { return at_ < bytes_.size(); }

 private:
  std::size_t max_bytes_;
  std::string bytes_;
  std::size_t at_ = 0;  // bytes before it were taken
  std::optional<CallStatus> problem_;
};

}  // namespace backplane::grpc
