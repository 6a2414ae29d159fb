// Decompresses a text (Content-Encoding gzip or deflate) piece by piece, and compresses it again.
// A piece may expand to at most kMost bytes.
// Thread-safety: one executor.
// Errors:        failed() returns true if the input is not valid compressed data, or if a piece expands to more than kMost bytes.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace backplane::core {

class PackedText {
 public:
  static constexpr std::size_t kMost = 32 << 20;

  // Returns null for an encoding other than gzip and deflate.
  static std::unique_ptr<PackedText> of(std::string_view coding);
  ~PackedText();

  std::string unpack(std::string_view bytes);
  std::string pack(std::string_view text, bool at_end);
  bool failed() const noexcept;

 private:
  explicit PackedText(int window_bits);
  struct Streams;
  std::unique_ptr<Streams> streams_;
};

}  // namespace backplane::core
