// RocksDB's format of write-ahead logs: blocks of 32 KiB, each record with a masked CRC-32C, a length and a type.
//
// Thread-safety: pure functions.
// Source:        RocksDB's db/log_format.h; logs that are not recycled, without compression.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace backplane::rocks {

inline constexpr std::size_t kLogBlock = 32 * 1024;
inline constexpr std::size_t kLogHeader = 7;

// A part of a record: all of it, or its first, a middle or its last part.
enum class LogPart : unsigned char { kNone = 0, kFull = 1, kFirst = 2, kMiddle = 3, kLast = 4 };

struct LogHead {
  std::uint32_t crc = 0;
  std::size_t length = 0;  // of what follows the head
  LogPart part = LogPart::kNone;
};

// `bytes` has at least kLogHeader bytes.
LogHead parse_log_head(std::string_view bytes);
// `bytes` begins with the head and has its length.
bool matches_crc(const LogHead& head, std::string_view bytes);

}  // namespace backplane::rocks
