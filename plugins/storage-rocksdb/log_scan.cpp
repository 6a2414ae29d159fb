#include "log_scan.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <vector>

namespace backplane::rocks {
namespace {

constexpr std::size_t kBlock = 32 * 1024, kHeader = 7, kTypeAt = 6;
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

// The offset of the first damaged record in a block; nullopt if there is none. `last`: the block is the file's last one, in which a
// truncated record is not damage.
std::optional<std::size_t> damage_in(std::string_view block, bool last) {
  for (std::size_t at = 0; at + kHeader <= block.size();) {
    const std::string_view head = block.substr(at, kHeader);
    const std::size_t length = little_endian(head.substr(4, 2));
    // Space that was reserved in advance.
    if (head[kTypeAt] == 0 && length == 0) return std::nullopt;
    if (at + kHeader + length > block.size()) return last ? std::nullopt : std::optional<std::size_t>(at);
    if (masked_crc(block.substr(at + kTypeAt, 1 + length)) != little_endian(head.substr(0, 4))) return at;
    at += kHeader + length;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> damage_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string block(kBlock, '\0');
  for (std::uint64_t begin = 0;; begin += kBlock) {
    file.read(block.data(), static_cast<std::streamsize>(kBlock));
    const auto size = static_cast<std::size_t>(file.gcount());
    if (const auto at = damage_in(std::string_view(block).substr(0, size), size < kBlock)) return begin + *at;
    if (size < kBlock) return std::nullopt;
  }
}

}  // namespace

std::optional<DamagedLog> find_damaged_log(const std::string& directory) {
  std::vector<std::filesystem::path> logs;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    if (entry.path().extension() == ".log") logs.push_back(entry.path());
  }
  std::sort(logs.begin(), logs.end());
  for (const auto& path : logs) {
    if (const auto offset = damage_of(path)) return DamagedLog{path.string(), *offset};
  }
  return std::nullopt;
}

}  // namespace backplane::rocks
