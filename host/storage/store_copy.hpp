// Copies the content of one store into another one of any kind: for migration between the embedded store and etcd.
//
//   hold      a mark in the target prevents servers from using it; with `hold_source` a mark in the source prevents writes
//   raise     the target's revision is raised above the source's, so that no resourceVersion that a client has seen is reused
//   copy      everything below /registry/, in pages, at one revision of the source
//   verify    the target is read back: as many keys, the same digest
//   settle    changes of the source are copied in further passes, until there are none
//   finish    the target drops its history (an older watch gets 410 and lists again) and its mark; the mark of the source stays
//
// An interrupted copy leaves the target marked; the next copy continues with it, and writes the differences.
//
// Thread-safety: one call on the two stores; others may read them.
// Lifetime:      borrows both stores.
// Errors:        those of the stores, with "source: " or "target: " before them; kConflict for a target that is not empty, or a source
//                that is an unfinished copy; kBadRequest for an empty source; kInternalError if the target differs from the written data.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "backplane/points/storage.hpp"

namespace backplane {

struct CopySettings {
  std::string from, to;  // names of the stores in the marks and in errors
  bool hold_source = false;
  // The lifetime in the target of objects that expire in the source (events): their remaining time is not known.
  std::chrono::seconds lease{3600};
  // `step`: "copied", "raised"; `done` keys or revisions.
  std::function<void(std::string_view step, std::uint64_t done)> progress = {};
};

struct CopyReport {
  std::uint64_t keys = 0, bytes = 0;
  std::string digest;  // SHA-256 of keys and values
  Revision source_revision = 0, target_revision = 0;
  bool resumed = false;
};

Task<Result<CopyReport>> copy_store(StorageBackend& from, StorageBackend& to, CopySettings settings);

// Removes a hold from a store, so that its servers write again. Errors: kNotFound if there is none; kConflict for an unfinished copy.
Task<Status> release_store(StorageBackend& store);

}  // namespace backplane
