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

// The size of the prefix of a message: the byte 0 ("not compressed"), and the message size in four bytes.
inline constexpr std::size_t kFramePrefix = 5;
void append_frame(std::string& out, std::string_view message);
// Returns the frame of one message. Uses the memory of the message if it is large enough.
std::string frame_of(std::string message);
// Returns the length of the frame at the start of `bytes`; 0 if `bytes` does not contain the whole prefix yet. For a compressed message,
// which FrameReader refuses, returns a length that exceeds every limit.
std::size_t length_of_frame(std::string_view bytes) noexcept;

class FrameReader {
 public:
  explicit FrameReader(std::size_t max_bytes) : max_bytes_(max_bytes) {}
  void add(std::string bytes);
  // Removes and returns the first complete message of the added bytes; nullopt if there is none, or if there is a problem.
  std::optional<std::string> take();
  const std::optional<CallStatus>& problem() const noexcept { return problem_; }
  // True if bytes of an incomplete message remain.
  bool has_rest() const noexcept { return at_ < bytes_.size(); }

 private:
  std::size_t max_bytes_;
  std::string bytes_;
  std::size_t at_ = 0;  // the bytes before this offset have been taken
  std::optional<CallStatus> problem_;
};

}  // namespace backplane::grpc
