// Checks a store or a snapshot: reads every record and verifies the checksums.
//
// Thread-safety: one thread; blocks.
// Errors:        what prevents the check (a store in use by another process, a file that is not a snapshot). Damage is a result.
#pragma once

#include <string>
#include <vector>

#include "app/store_session.hpp"
#include "backplane/points/store_inspection.hpp"
#include "base/progress_line.hpp"

namespace backplane {

struct StoreCheckReport {
  std::int64_t records = 0, bytes = 0;
  std::vector<StoreDamage> damage;
};

Result<StoreCheckReport> check_snapshot(const std::string& path, ProgressLine& line);
// If the store has no StoreInspection (etcd: the files are not local), only its records are read.
Result<StoreCheckReport> check_store(StoreSession& session, const StoreFlags& flags, ProgressLine& line);

}  // namespace backplane
