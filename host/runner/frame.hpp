// The bytes between the host and a runner process: frames with a fixed head, and the values in their payload.
//
//   head     16 bytes: magic, type, function, size of the payload
//   payload  values one after another: numbers in little endian, texts with their size before them
//
// Thread-safety: values.
// Lifetime:      texts that a Reader returns are views of the payload.
// Errors:        a head that is not valid is nullopt; a Reader that runs out of bytes, or finds a text longer than the rest, has failed()
//                and returns zeros from then on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace backplane::runner {

enum class FrameType : std::uint8_t {
  kCall = 1,
  kAnswer = 2,   // of the function
  kRefusal = 3,  // the call could not be made; the payload is a Status
};

struct FrameHead {
  FrameType type = FrameType::kCall;
  std::uint16_t function = 0;
  std::uint32_t size = 0;  // of the payload
};

inline constexpr std::size_t kHeadSize = 16;
// The maximum size of the answer of a list.
inline constexpr std::uint32_t kMostPayload = 256U << 20U;

void append_head(std::string& out, const FrameHead& head);
// `bytes`: kHeadSize of them.
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
  // The number of elements of a list, each of which takes at least `least` bytes.
  std::uint32_t count(std::size_t least);
  void fail() noexcept { failed_ = true; }
  bool failed() const noexcept { return failed_; }
  // All bytes were read, and none was missing.
  bool complete() const noexcept { return !failed_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool failed_ = false;
};

}  // namespace backplane::runner
