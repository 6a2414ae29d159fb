// A write-ahead log whose space is reserved in advance by writing zeros. A small write then changes neither the size of the file nor its
// blocks, so that fdatasync() writes no inode: one write to the disk and one sleep less.
//
// What a crash leaves of the reserved space is removed before RocksDB reads the log (log_tail.hpp).
//
// Thread-safety: RocksDB's: one thread at a time appends.
// Errors:        without space to reserve the log grows with each write, as RocksDB's do.
#pragma once

#include <rocksdb/file_system.h>

#include <cstddef>
#include <memory>
#include <string>

namespace backplane::rocks {

inline constexpr std::size_t kReservedLogBytes = 256 * 1024;       // at a time
inline constexpr std::size_t kLargestReservedAppend = 256 * 1024;  // a larger one is not written into reserved space

std::unique_ptr<rocksdb::FSWritableFile> make_reserved_log(std::unique_ptr<rocksdb::FSWritableFile> log, const std::string& path);

}  // namespace backplane::rocks
