// A write-ahead log whose space is reserved in advance by writing zeros. So a small write changes neither the size of the file nor its
// blocks, and fdatasync() need not write the inode, which saves a disk write.
//
// After a crash, the unused space is removed before RocksDB reads the log (log_tail.hpp).
//
// Thread-safety: one thread at a time appends, as for every file of RocksDB.
// Errors:        if no space can be reserved, the file grows with each write, as without this class.
#pragma once

#include <rocksdb/file_system.h>

#include <cstddef>
#include <memory>
#include <string>

namespace backplane::rocks {

inline constexpr std::size_t kReservedLogBytes = 256 * 1024;       // the space that is reserved at a time
inline constexpr std::size_t kLargestReservedAppend = 256 * 1024;  // larger writes are not written into reserved space

std::unique_ptr<rocksdb::FSWritableFile> make_reserved_log(std::unique_ptr<rocksdb::FSWritableFile> log, const std::string& path);

}  // namespace backplane::rocks
