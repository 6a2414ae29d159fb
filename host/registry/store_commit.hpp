// The transaction at the end of a write: the change of the object, and the changes that hooks and admission plugins join to it.
//
// Thread-safety: one write.
// Lifetime:      borrows the backing, the request and the begun writes until it has ended.
// Errors:        those of the backend and of the hooks; a lost race is no error.
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
  kMoved,  // the object is no longer at the expected revision
  kStale,  // a change that the write has begun can no longer be committed
};
struct CommitOutcome {
  CommitEnd end = CommitEnd::kDone;
  Revision revision = 0;          // kDone: of the commit
  std::optional<KeyValue> found;  // kMoved: the current object; nullopt: it does not exist
};

// The hooks and admission plugins that may join the transaction of a write.
struct Joining {
  BegunWrite* hooks = nullptr;  // begun by the resource's hooks; null: nothing. The caller finishes it.
  // Null: admission does not apply.  Its plugins begin in commit(), right before the transaction, and are finished there.
  WriteAdmission* admission = nullptr;
  AdmissionAttributes* attributes = nullptr;  // of the write, with the objects as they are stored
};

// kStale: a change that a hook has joined can no longer be committed.  The changes of admission plugins are joined again instead.
// `unclear`, unless it is null: set to whether the store failed; it may have committed nevertheless.
Task<Result<CommitOutcome>> commit(const Backing& backing, RequestContext& context, ObjectChange change, Joining joining,
                                   bool* unclear = nullptr);

// True if the store refused the object because of its size. As upstream, the object is then written once more without its managers, unless
// it was applied.
bool too_large(const Status& status);

// Commits only the changes that `write` joins, without an object.  False: join() has returned false.
Task<Result<bool>> commit_joined(const Backing& backing, RequestContext& context, BegunWrite& write);

}  // namespace backplane::registry
