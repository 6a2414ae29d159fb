// Repairs the end of a write-ahead log after a crash. If the log's space was reserved in advance (reserved_log.hpp), the log ends with
// zeros, and possibly with parts of one record that was never acknowledged. RocksDB would report these parts as damage, so they are cut off
// before it reads the log.
//
// Only the last record may not have been acknowledged, because the next write begins after its fsync. As in etcd, a record that was not
// written completely is distinguished from a damaged one: at least one of its disk sectors is still zero.
//
// Thread-safety: any thread; the log must have no writer.
// Errors:        cut_log_tail(): kCorruption if records follow a part that cannot be read; kIOError.
#pragma once

#include <rocksdb/io_status.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace backplane::rocks {

struct LogTail {
  std::optional<std::size_t> cut_at;      // the end of the last complete record, if the log must be cut there
  std::optional<std::size_t> damaged_at;  // the offset of a part that cannot be read although records follow it
};

// Analyzes the end of a log. `bytes`: the end, from the beginning of a block on. `is_all`: `bytes` is the whole log.
LogTail read_log_tail(std::string_view bytes, bool is_all);

// Cuts the log at `path` after its last complete record, durably. Does not change a log that cannot be analyzed; RocksDB then reports its
// errors.
rocksdb::IOStatus cut_log_tail(const std::string& path);

}  // namespace backplane::rocks
