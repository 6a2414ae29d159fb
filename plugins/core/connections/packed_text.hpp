// A text that comes packed (Content-Encoding gzip or deflate), to be read and packed again on its way.
//
// A piece unpacks to kMost at most; what unpacks to more fails.
// Thread-safety: one executor.
// Errors:        failed(): what came is not packed in that way.
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
