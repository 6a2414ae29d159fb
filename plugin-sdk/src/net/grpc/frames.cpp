#include "net/grpc/frames.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace backplane::grpc {
namespace {

// The maximum memory that is reserved for a message before its bytes have arrived.
constexpr std::size_t kMaxReserved = std::size_t{8} << 20;

std::array<char, kFramePrefix> prefix_of(std::size_t message_size) noexcept {
  const auto byte = [message_size](unsigned shift) { return static_cast<char>(message_size >> shift & 0xFFU); };
  return {'\0', byte(24), byte(16), byte(8), byte(0)};
}

// Returns the message size in the prefix at the start of `bytes`. Precondition: `bytes` contains the whole prefix.
std::size_t size_in_prefix(std::string_view bytes) noexcept {
  std::size_t size = 0;
  for (std::size_t i = 1; i < kFramePrefix; ++i) size = size << 8U | static_cast<unsigned char>(bytes[i]);
  return size;
}

}  // namespace

void append_frame(std::string& out, std::string_view message) {
  const auto prefix = prefix_of(message.size());
  out.append(prefix.data(), prefix.size()).append(message);
}

std::string frame_of(std::string message) {
  const auto prefix = prefix_of(message.size());
  if (message.capacity() - message.size() >= kFramePrefix) {
    message.insert(0, prefix.data(), prefix.size());
    return message;
  }
  std::string out;
  out.reserve(kFramePrefix + message.size());
  append_frame(out, message);
  return out;
}

std::size_t length_of_frame(std::string_view bytes) noexcept {
  if (bytes.size() < kFramePrefix) return 0;
  return bytes[0] == '\0' ? kFramePrefix + size_in_prefix(bytes) : std::numeric_limits<std::size_t>::max();
}

void FrameReader::add(std::string bytes) {
  if (at_ == bytes_.size()) {
    bytes_ = std::move(bytes);
    at_ = 0;
  } else {
    bytes_ += bytes;
  }
}

std::optional<std::string> FrameReader::take() {
  if (problem_ || bytes_.size() - at_ < kFramePrefix) return std::nullopt;
  const std::size_t size = size_in_prefix(std::string_view(bytes_).substr(at_));
  if (bytes_[at_] != '\0') {
    problem_.emplace(Code::kInternal, "grpc: the server has sent a compressed message");
    return std::nullopt;
  }
  if (size > max_bytes_) {
    problem_.emplace(Code::kResourceExhausted,
                     "grpc: received message larger than max (" + std::to_string(size) + " vs. " + std::to_string(max_bytes_) + ")");
    return std::nullopt;
  }
  if (bytes_.size() - at_ < kFramePrefix + size) {
    bytes_.erase(0, std::exchange(at_, 0));
    if (bytes_.capacity() < kMaxReserved) bytes_.reserve(std::min(kFramePrefix + size, kMaxReserved));
    return std::nullopt;
  }
  std::string message;
  if (at_ == 0 && bytes_.size() == kFramePrefix + size) {
    bytes_.erase(0, kFramePrefix);
    message.swap(bytes_);
    return message;
  }
  message = bytes_.substr(at_ + kFramePrefix, size);
  at_ += kFramePrefix + size;
  return message;
}

}  // namespace backplane::grpc
