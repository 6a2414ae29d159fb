#include "text/base64.hpp"

#include <array>
#include <cstdint>

namespace backplane::schema {
namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t kBad = 0xFF;

constexpr std::array<std::uint8_t, 256> make_table() {
  std::array<std::uint8_t, 256> table{};
  for (auto& entry : table) entry = kBad;
  for (std::size_t i = 0; i < kAlphabet.size(); ++i) table[static_cast<unsigned char>(kAlphabet[i])] = static_cast<std::uint8_t>(i);
  return table;
}
constexpr std::array<std::uint8_t, 256> kTable = make_table();

std::uint8_t digit(char c) noexcept { return kTable[static_cast<unsigned char>(c)]; }

// Decodes groups of four characters; each state is a member function.
class Decoder {
 public:
  Decoder(std::string_view text, std::string& out) noexcept : text_(text), out_(out) {}

  std::optional<std::size_t> run() {
    while (!ended_ && at_ < text_.size() && !bad_) group();
    return bad_;
  }

 private:
  void skip_lines() noexcept {
    while (at_ < text_.size() && (text_[at_] == '\n' || text_[at_] == '\r')) ++at_;
  }
  void group() {
    std::array<std::uint8_t, 4> digits{};
    std::size_t count = 0;
    while (count < 4) {
      skip_lines();
      if (at_ == text_.size()) {
        if (count != 0) bad_ = at_ - count;
        ended_ = true;
        return;
      }
      const char c = text_[at_++];
      if (digit(c) == kBad) {
        if (c != '=')
          bad_ = at_ - 1;
        else
          padding(count);
        break;
      }
      digits[count++] = digit(c);
    }
    if (!bad_) emit(digits, count);
  }
  // At the first '=', after `count` digits of the group: only a second '=' and line ends may follow.
  void padding(std::size_t count) {
    ended_ = true;
    if (count < 2) {
      bad_ = at_ - 1;
      return;
    }
    if (count == 2) {
      skip_lines();
      if (at_ == text_.size() || text_[at_] != '=') {
        bad_ = at_ == text_.size() ? at_ : at_ - 1;
        return;
      }
      ++at_;
    }
    skip_lines();
    if (at_ < text_.size()) bad_ = at_;
  }
  void emit(const std::array<std::uint8_t, 4>& digits, std::size_t count) {
    const std::uint32_t bits = std::uint32_t(digits[0]) << 18 | std::uint32_t(digits[1]) << 12 | std::uint32_t(digits[2]) << 6 | digits[3];
    for (std::size_t i = 0; i + 1 < count; ++i) out_.push_back(static_cast<char>(bits >> (16 - 8 * i)));
  }

  std::string_view text_;
  std::string& out_;
  std::size_t at_ = 0;
  bool ended_ = false;
  std::optional<std::size_t> bad_;
};

}  // namespace

bool is_canonical_base64(std::string_view text) noexcept {
  if (text.size() % 4 != 0) return false;
  if (text.empty()) return true;
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  const std::size_t count = text.size() - padding;
  for (std::size_t i = 0; i < count; ++i) {
    if (digit(text[i]) == kBad) return false;
  }
  // Requires that the bits that the padding cuts off are zero.
  return padding == 0 || (digit(text[count - 1]) & (padding == 2 ? 0x0F : 0x03)) == 0;
}

std::string encode_base64(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  auto byte = [&](std::size_t i) { return std::uint32_t(i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0); };
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::uint32_t bits = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
    out.push_back(kAlphabet[bits >> 18]);
    out.push_back(kAlphabet[bits >> 12 & 63]);
    out.push_back(i + 1 < bytes.size() ? kAlphabet[bits >> 6 & 63] : '=');
    out.push_back(i + 2 < bytes.size() ? kAlphabet[bits & 63] : '=');
  }
  return out;
}

std::optional<std::size_t> decode_go_base64(std::string_view text, std::string& out) { return Decoder(text, out).run(); }

}  // namespace backplane::schema
