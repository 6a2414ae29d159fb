#include "log_format.hpp"

#include <array>

namespace backplane::rocks {
namespace {

constexpr std::size_t kTypeAt = 6;
constexpr std::uint32_t kPolynomial = 0x82f63b78, kMaskDelta = 0xa282ead8;

constexpr std::array<std::uint32_t, 256> crc_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0);
    table[i] = crc;
  }
  return table;
}
constexpr auto kTable = crc_table();

std::uint32_t masked_crc(std::string_view bytes) {
  std::uint32_t crc = ~0U;
  for (const char byte : bytes) crc = (crc >> 8) ^ kTable[(crc ^ static_cast<unsigned char>(byte)) & 0xff];
  crc = ~crc;
  return ((crc >> 15) | (crc << 17)) + kMaskDelta;
}

std::uint32_t little_endian(std::string_view bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

}  // namespace

LogHead parse_log_head(std::string_view bytes) {
  return {little_endian(bytes.substr(0, 4)), little_endian(bytes.substr(4, 2)), static_cast<LogPart>(bytes[kTypeAt])};
}

bool matches_crc(const LogHead& head, std::string_view bytes) { return masked_crc(bytes.substr(kTypeAt, 1 + head.length)) == head.crc; }

}  // namespace backplane::rocks
