// Forwards RocksDB's log to the host's log.  RocksDB's own file would be in the store's directory, and Debian's build aborts the process
// at the second line that does not fit on the disk.
//
// Thread-safety: any thread.
// Lifetime:      the logger outlives the database.
#pragma once

#include <rocksdb/env.h>

#include <memory>

#include "backplane/core/logger.hpp"

namespace backplane::rocks {

// Warnings and errors go to `logger`, other lines are dropped; without a logger all are.
std::shared_ptr<rocksdb::Logger> make_info_log(backplane::Logger* logger);

}  // namespace backplane::rocks
