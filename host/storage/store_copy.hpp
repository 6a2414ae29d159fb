// Copies the content of a store to another store, for migration between the embedded store and etcd. The steps are:
//
//   hold      writes a mark (store_hold.hpp) to the target, so that no server uses it; with `hold_source`, also a mark to the source, so
//             that no server writes to it
//   raise     raises the target's revision to the source's, so that no resourceVersion that a client has received is reused
//   copy      copies all keys below /registry/, in pages, at one revision of the source
//   settle    copies changes that were made to the source meanwhile, in further passes, until a pass finds none
//   verify    reads the target and compares the number of keys and the digest
//   finish    compacts the target's history (a watch from an older revision gets 410 and lists again) and removes the target's mark; the
//             mark of the source remains
//
// After an interrupted copy the target still has its mark. The next copy to it continues, and writes only differences.
//
// Thread-safety: one copy at a time uses the two stores; other clients may read them.
// Lifetime:      borrows both stores.
// Errors:        those of the stores, preceded by "source: " or "target: ".
//                kConflict if the target is not empty, or if the source is an unfinished copy.
//                kBadRequest if the source is empty.
//                kInternalError if the target differs from the written data.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "backplane/points/storage.hpp"

namespace backplane {

struct CopySettings {
  std::string from, to;  // the names of the stores, for the marks and for errors
  bool hold_source = false;
  // The lifetime that objects with a lease (events) get in the target, because their remaining lifetime in the source is unknown.
  std::chrono::seconds lease{3600};
  // Called from time to time. `step`: "copied" (`done`: the number of keys) or "raised" (`done`: the revision).
  std::function<void(std::string_view step, std::uint64_t done)> progress = {};
};

struct CopyReport {
  std::uint64_t keys = 0, bytes = 0;
  std::string digest;  // SHA-256 of keys and values
  Revision source_revision = 0, target_revision = 0;
  bool resumed = false;
};

Task<Result<CopyReport>> copy_store(StorageBackend& from, StorageBackend& to, CopySettings settings);

// Removes the hold from a store, so that its servers write again. Errors: kNotFound if there is no hold; kConflict if the store is an
// unfinished copy.
Task<Status> release_store(StorageBackend& store);

}  // namespace backplane
