// Optional interface of a storage backend that keeps local files: facts about the files, and a check of all records in them. The host
// obtains it by a dynamic_cast of the StorageBackend.
//
// Thread-safety: every method from any thread; concurrently with reads and writes of the store.
// Lifetime:      as long as the backend.
// Errors:        kServiceUnavailable after stop(). Damage is a result, not an error.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backplane/core/revision.hpp"
#include "backplane/core/status.hpp"
#include "backplane/core/task.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// Facts about the files of the store. Sizes are in bytes; -1: unknown.
struct StoreFacts {
  Revision revision = 0, compacted = 0;
  std::int64_t files = 0, file_bytes = 0;  // segments: immutable files of records; the number of files and their total size
  std::int64_t logs = 0, log_bytes = 0;    // write-ahead logs; the number of files and their total size
  std::int64_t memory_bytes = -1;          // size of the recent writes that are not in a segment yet
  std::int64_t free_bytes = -1;            // free space of the file system
  std::int64_t rows = -1;                  // estimated number of records, including history
};

// A record or file that cannot be read.
struct StoreDamage {
  std::string file;          // the file, or the table if the file is unknown
  std::int64_t offset = -1;  // in bytes; -1: unknown
  std::string what;
};

// One part of a check.
struct StoreCheckPart {
  std::string next;  // start of the next part, for `from` of the next check() (any bytes); empty: the check is complete
  std::int64_t bytes = 0, rows = 0;
  std::vector<StoreDamage> damage;
};

class StoreInspection {
 public:
  virtual ~StoreInspection() = default;
  virtual Task<Result<StoreFacts>> facts() = 0;
  // Verifies checksums and reads records, beginning at `from`, for at most about a second. `from` is empty for the first part, and
  // StoreCheckPart::next for each later part.
  virtual Task<Result<StoreCheckPart>> check(std::string from) = 0;
};

}  // namespace BACKPLANE_API
