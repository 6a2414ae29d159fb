// Forwards RocksDB's log messages to the host's log.  RocksDB's own log file is not used: it would be in the store's directory, and if the
// disk is full, Debian's build of RocksDB aborts the process when it fails to write to that file for the second time.
//
// Thread-safety: any thread.
// Lifetime:      the logger must exist as long as the database.
#pragma once

#include <rocksdb/env.h>

#include <memory>

#include "backplane/core/logger.hpp"

namespace backplane::rocks {

// Forwards warnings and errors to `logger`; drops all other messages. If `logger` is null, drops all messages.
std::shared_ptr<rocksdb::Logger> make_info_log(backplane::Logger* logger);

}  // namespace backplane::rocks
