// The transaction at the end of a write. It contains the change of the object, and the changes that hooks and admission plugins add with
// BegunWrite::join().
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
  std::optional<SharedBytes> value;  // nullopt: removes the key
  LeaseId lease = 0;
};

enum class CommitEnd : unsigned char {
  kDone,
  kMoved,  // the object is no longer at the expected revision
  kStale,  // join() of the hooks has returned false: their changes can no longer be committed
};
struct CommitOutcome {
  CommitEnd end = CommitEnd::kDone;
  Revision revision = 0;          // for kDone: the revision of the commit
  std::optional<KeyValue> found;  // for kMoved: the current object; nullopt: it does not exist
};

// The hooks and admission plugins that may join the transaction of a write.
struct Joining {
  BegunWrite* hooks = nullptr;  // from the resource's hooks; null: none. The caller calls its finish().
  // Null: admission does not apply.  commit() calls begin() of the plugins right before the transaction, and finish() after it.
  WriteAdmission* admission = nullptr;
  AdmissionAttributes* attributes = nullptr;  // the attributes of the write; their objects are in the state that is stored
};

// Commits `change` together with the changes in `joining`.  If join() of an admission plugin returns false, its begin() is called again.
// `unclear` (may be null) is set to true if the transaction failed: the store may have committed it nevertheless.
Task<Result<CommitOutcome>> commit(const Backing& backing, RequestContext& context, ObjectChange change, Joining joining,
                                   bool* unclear = nullptr);

// True if the store has refused the object because of its size. As upstream, the caller then writes it once more without managedFields,
// unless the write is an apply.
bool too_large(const Status& status);

// Commits only the changes that write.join() adds.  False: join() has returned false.
Task<Result<bool>> commit_joined(const Backing& backing, RequestContext& context, BegunWrite& write);

}  // namespace backplane::registry
