#include "net/grpc/frames.hpp"

#include <algorithm>
#include <cstdint>

namespace backplane::grpc {
namespace {

// The limit of memory that is reserved for an announced message before its bytes arrive.
constexpr std::size_t kMaxReserved = std::size_t{8} << 20;

}  // namespace

void append_frame(std::string& out, std::string_view message) {
  const auto size = static_cast<std::uint32_t>(message.size());
  out += '\0';
  for (const unsigned shift : {24U, 16U, 8U, 0U}) out += static_cast<char>(size >> shift & 0xFFU);
  out += message;
}

std::string frame_of(std::string_view message) {
  std::string out;
  out.reserve(kFramePrefix + message.size());
  append_frame(out, message);
  return out;
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
  std::size_t size = 0;
  for (std::size_t i = 1; i < kFramePrefix; ++i) size = size << 8U | static_cast<unsigned char>(bytes_[at_ + i]);
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
