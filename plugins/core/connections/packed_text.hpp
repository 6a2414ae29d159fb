// Decompresses a text (Content-Encoding gzip or deflate) piece by piece, and compresses it again.
// A piece may expand to at most kMost bytes; otherwise the text fails.
// Thread-safety: one executor.
// Errors:        failed(): the input is not compressed in that way.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace backplane::core {

class PackedText {
 public:
  static constexpr std::size_t kMost = 32 << 20;

  // Null: another encoding.
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
