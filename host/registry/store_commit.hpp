// The one transaction at the end of a write: the object's own change, and what the write's hooks and admission plugins join to it.
//
// Thread-safety: one write.
// Lifetime:      borrows the backing, the request and what was begun until it is awaited to the end.
// Errors:        those of the backend and of the hooks; a lost race is none.
#pragma once

#include <optional>
#include <string>

#include "backplane/rest/store_hooks.hpp"
#include "registry/environment.hpp"
#include "registry/write_admission.hpp"

namespace backplane::registry {

struct ObjectChange {
  std::string key;
  Revision expected = 0;             // 0: the key must not exist
  std::optional<SharedBytes> value;  // nothing: removes the key
  LeaseId lease = 0;
};

enum class CommitEnd : unsigned char {
  kDone,
  kMoved,  // the object is no longer at the revision that was expected
  kStale,  // what the write had begun is no longer to be had
};
struct CommitOutcome {
  CommitEnd end = CommitEnd::kDone;
  Revision revision = 0;          // kDone: of the commit
  std::optional<KeyValue> found;  // kMoved: the object as it is; nothing: there is none
};

// What may join the transaction of a write.
struct Joining {
  BegunWrite* hooks = nullptr;  // what the resource's hooks have begun; null: nothing.  The caller finishes it.
  // Null: admission does not apply.  Its plugins begin in commit(), right before the transaction, and are finished there.
  WriteAdmission* admission = nullptr;
  AdmissionAttributes* attributes = nullptr;  // of the write, with the objects as they are stored
};

// kStale: a change that a hook has joined can no longer be committed.  The changes of admission plugins are joined again instead.
// `unclear`, unless it is null: whether the store has failed, which may have committed all the same.
Task<Result<CommitOutcome>> commit(const Backing& backing, RequestContext& context, ObjectChange change, Joining joining,
                                   bool* unclear = nullptr);

// The store takes nothing so large.  As upstream, what is written then is written once more without its managers, unless it is applied.
bool too_large(const Status& status);

// Commits only the changes that `write` joins, without an object.  False: join() has returned false.
Task<Result<bool>> commit_joined(const Backing& backing, RequestContext& context, BegunWrite& write);

}  // namespace backplane::registry
