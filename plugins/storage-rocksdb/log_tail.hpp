// The end of a write-ahead log whose space was reserved in advance (reserved_log.hpp), after a crash: zeros, and perhaps parts of one
// record that was never acknowledged. RocksDB would take these parts for damage, so they are cut off before it reads the log.
//
// A record was never acknowledged only if it is the last one, because the next write begins after its fsync. It is distinguished from a
// damaged one as etcd does: a sector of it is still zero.
//
// Thread-safety: any thread; the log has no writer.
// Errors:        kCorruption if records follow the place that cannot be read; kIOError.
#pragma once

#include <rocksdb/io_status.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace backplane::rocks {

struct LogTail {
  std::optional<std::size_t> cut_at;      // the end of the last whole record, if unwritten space follows
  std::optional<std::size_t> damaged_at;  // a place that cannot be read, although records follow
};

// `bytes`: the end of a log, from the beginning of a block on. `is_all`: the whole log.
LogTail read_log_tail(std::string_view bytes, bool is_all);

// Removes the unwritten space of the log at `path`, durably. Leaves what it cannot judge to RocksDB.
rocksdb::IOStatus cut_log_tail(const std::string& path);

}  // namespace backplane::rocks
