// Takes a snapshot of a store at one revision, and makes an embedded store of a snapshot.
//
// A snapshot holds the newest values of all keys below /registry/ as they are stored (encrypted ones stay encrypted), without history.
// A restored store has the same objects with the same resourceVersions. `bump` raises the revision above all those that clients may have
// seen after the snapshot; the history below is compacted, so that their watches end with 410 and informers list again.
//
// Thread-safety: one call on a store; other clients may use a store that is read.
// Lifetime:      borrows both arguments.
// Errors:        those of the stores and of the file; kConflict for an unfinished copy, and if the store forgets revisions faster than they
//                are read.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "backplane/points/storage.hpp"
#include "storage/snapshot_file.hpp"

namespace backplane {

// Called from time to time. `total`: 0 if it is not known.
using StoreProgress = std::function<void(std::uint64_t done, std::uint64_t total)>;

// `done`: keys. The caller finishes the writer.
Task<Result<Revision>> snapshot_store(StorageBackend& store, SnapshotWriter& to, std::string source, StoreProgress progress);

// A snapshot that has been read to its end: where its records are, by revision.
struct VerifiedSnapshot {
  struct Item {
    Revision revision = 0;
    SnapshotReader::Place place;
  };
  std::vector<Item> items;
};
// Reads the whole file. `done`: bytes.
Result<VerifiedSnapshot> verify_snapshot(SnapshotReader& from, const StoreProgress& progress);

struct RestoreSettings {
  Revision bump = 0;
  // Lifetime of expiring objects (events): their remaining time is unknown.
  std::chrono::seconds lease{3600};
  StoreProgress progress = {};
};
// `to`: new and empty. Returns its revision.
Task<Result<Revision>> restore_snapshot(const SnapshotReader& from, const VerifiedSnapshot& verified, StorageBackend& to,
                                        RestoreSettings settings);

}  // namespace backplane
