// What RocksDB has to say, in the host's log.  Its own file would lie in the store's directory, and Debian's build aborts the process at
// the second line that finds no room there.
//
// Thread-safety: any thread.
// Lifetime:      the logger outlives the database.
#pragma once

#include <rocksdb/env.h>

#include <memory>

#include "backplane/core/logger.hpp"

namespace backplane::rocks {

// Warnings and errors go to `logger`, the rest nowhere; without a logger nothing is kept.
std::shared_ptr<rocksdb::Logger> make_info_log(backplane::Logger* logger);

}  // namespace backplane::rocks
