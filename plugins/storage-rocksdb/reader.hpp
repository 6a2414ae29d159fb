// Reads from a consistent snapshot of the database: ranges at a revision, and past events.
//
// Thread-safety: every function from any thread that may block, because they may read files.
// Lifetime:      borrows the database.
// Errors:        kExpired for compacted revisions; kBadRequest for future revisions; kInternalError, which names the key, for damaged rows.
#pragma once

#include <atomic>
#include <optional>
#include <string>

#include "backplane/points/storage.hpp"
#include "database.hpp"

namespace backplane::rocks {

class Reader {
 public:
  Reader(const Database& database, const std::atomic<Revision>& compacted) : database_(database), compacted_(compacted) {}

  // `memory_only` (for single keys): reads no file, and returns nullopt if a file would have to be read.
  Result<std::optional<RangeResult>> range(const RangeRequest& request, bool memory_only) const;
  Result<EventBatch> events(const std::string& prefix, Revision after, std::size_t limit) const;

 private:
  const Database& database_;
  const std::atomic<Revision>& compacted_;
};

Status stopped_status();
Status compacted_status();

}  // namespace backplane::rocks
