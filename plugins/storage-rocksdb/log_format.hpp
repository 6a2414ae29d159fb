// The format of RocksDB's write-ahead logs: blocks of 32 KiB with parts of records. Each part has a header with a masked CRC-32C, a length
// and a type. Supports only logs that are not recycled and not compressed.
//
// Thread-safety: pure functions.
// Source:        RocksDB's db/log_format.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace backplane::rocks {

inline constexpr std::size_t kLogBlock = 32 * 1024;
inline constexpr std::size_t kLogHeader = 7;

// The type of a part: a whole record, or the first, a middle or the last part of a record. kNone: no part (zeros).
enum class LogPart : unsigned char { kNone = 0, kFull = 1, kFirst = 2, kMiddle = 3, kLast = 4 };

// The header of a part.
struct LogHead {
  std::uint32_t crc = 0;
  std::size_t length = 0;  // the number of bytes after the header
  LogPart part = LogPart::kNone;
};

// Precondition: `bytes` has at least kLogHeader bytes.
LogHead parse_log_head(std::string_view bytes);
// True if the checksum of the part is correct. `bytes`: begins with the header and contains the whole part.
bool matches_crc(const LogHead& head, std::string_view bytes);

}  // namespace backplane::rocks
