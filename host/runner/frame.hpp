// The bytes between the host and a runner process: frames with a fixed head, and the values in their payload.
//
//   head     16 bytes: magic, type, function, size of the payload
//   payload  values one after another: numbers in little endian, texts with their size before them
//
// Thread-safety: values.
// Lifetime:      the texts that a Reader returns are views of the payload.
// Errors:        parse_head(): nullopt for an invalid head.
//                Reader: after bytes are missing or a text is longer than the rest, failed() is true and each read returns 0 or an empty
//                text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace backplane::runner {

enum class FrameType : std::uint8_t {
  kCall = 1,
  kAnswer = 2,   // the answer of the function
  kRefusal = 3,  // the function was not executed, or its handler failed; the payload is a Status
};

struct FrameHead {
  FrameType type = FrameType::kCall;
  std::uint16_t function = 0;
  std::uint32_t size = 0;  // the size of the payload
};

inline constexpr std::size_t kHeadSize = 16;
// The maximum size of a payload. It is large because the answer of a list is one payload.
inline constexpr std::uint32_t kMostPayload = 256U << 20U;

void append_head(std::string& out, const FrameHead& head);
// `bytes`: exactly kHeadSize bytes.
std::optional<FrameHead> parse_head(std::string_view bytes);

class Writer {
 public:
  void number(std::uint64_t value, std::size_t bytes);
  void text(std::string_view value);
  const std::string& bytes() const noexcept { return bytes_; }
  std::string take() noexcept { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}
  std::uint64_t number(std::size_t bytes);
  std::string_view text();
  // Reads the number of elements of a list. Each element takes at least `least` bytes, which limits the number.
  std::uint32_t count(std::size_t least);
  void fail() noexcept { failed_ = true; }
  bool failed() const noexcept { return failed_; }
  // Whether all bytes have been read and none was missing.
  bool complete() const noexcept { return !failed_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool failed_ = false;
};

}  // namespace backplane::runner
