#include "log_scan.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <vector>

#include "log_format.hpp"

namespace backplane::rocks {
namespace {

// The offset of the first damaged record in a block; nullopt: there is none.  `last`: this is the last block of the file, so a record that
// the end of the block cuts off is not damaged.
std::optional<std::size_t> damage_in(std::string_view block, bool last) {
  for (std::size_t at = 0; at + kLogHeader <= block.size();) {
    const LogHead head = parse_log_head(block.substr(at));
    // Zeros: space that was reserved in advance.
    if (head.part == LogPart::kNone && head.length == 0) return std::nullopt;
    if (at + kLogHeader + head.length > block.size()) return last ? std::nullopt : std::optional<std::size_t>(at);
    if (!matches_crc(head, block.substr(at))) return at;
    at += kLogHeader + head.length;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> damage_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string block(kLogBlock, '\0');
  for (std::uint64_t begin = 0;; begin += kLogBlock) {
    file.read(block.data(), static_cast<std::streamsize>(kLogBlock));
    const auto size = static_cast<std::size_t>(file.gcount());
    if (const auto at = damage_in(std::string_view(block).substr(0, size), size < kLogBlock)) return begin + *at;
    if (size < kLogBlock) return std::nullopt;
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
