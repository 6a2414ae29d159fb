// Reads of one consistent moment of the store: ranges at a revision and events of the past.
//
// Thread-safety: every function from any thread.  They may read files: call them where blocking is allowed.
// Lifetime:      the database outlives the call.
// Errors:        kExpired for revisions compacted away, kBadRequest for future ones, kInternalError for damage (the message names the key).
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

  // `memory_only`: nullopt if a file would have to be read; for single keys.
  Result<std::optional<RangeResult>> range(const RangeRequest& request, bool memory_only) const;
  Result<EventBatch> events(const std::string& prefix, Revision after, std::size_t limit) const;

 private:
  const Database& database_;
  const std::atomic<Revision>& compacted_;
};

Status stopped_status();
Status compacted_status();

}  // namespace backplane::rocks
