// Writes the content of a store at one revision to a snapshot file, and fills a new embedded store from such a file.
//
// A snapshot has the values of all keys below /registry/ as they are stored (encrypted values stay encrypted), without history. A restored
// store has the same objects with the same resourceVersions. RestoreSettings::bump is added to the revision of the restored store, so that
// it exceeds all revisions that clients may have received after the snapshot. Older revisions are compacted, so that watches of these
// clients end with 410 and informers list again.
//
// Thread-safety: one call per store at a time; other clients may use the store from which a snapshot is taken.
// Lifetime:      the arguments must live until the task has ended.
// Errors:        those of the stores and of the file.
//                kConflict if the store is an unfinished copy, or if it compacts revisions faster than they are read.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "backplane/points/storage.hpp"
#include "storage/snapshot_file.hpp"

namespace backplane {

// Called from time to time. `total`: 0 if it is unknown.
using StoreProgress = std::function<void(std::uint64_t done, std::uint64_t total)>;

// Writes a snapshot and returns its revision. The caller calls to.finish(). `progress`: `done` is a number of keys.
Task<Result<Revision>> snapshot_store(StorageBackend& store, SnapshotWriter& to, std::string source, StoreProgress progress);

// The positions of the records of a snapshot whose file has been verified, sorted by revision.
struct VerifiedSnapshot {
  struct Item {
    Revision revision = 0;
    SnapshotReader::Place place;
  };
  std::vector<Item> items;
};
// Reads and verifies the whole file. `progress`: `done` is a number of bytes.
Result<VerifiedSnapshot> verify_snapshot(SnapshotReader& from, const StoreProgress& progress);

struct RestoreSettings {
  Revision bump = 0;
  // The lifetime that objects with a lease (events) get, because their remaining lifetime is unknown.
  std::chrono::seconds lease{3600};
  StoreProgress progress = {};
};
// Fills `to`, a new and empty store. Returns the store's revision.
Task<Result<Revision>> restore_snapshot(const SnapshotReader& from, const VerifiedSnapshot& verified, StorageBackend& to,
                                        RestoreSettings settings);

}  // namespace backplane
