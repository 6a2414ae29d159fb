// The one transaction at the end of a write: the object's own change, and what the write's hooks have joined to it.
//
// Thread-safety: one write.
// Lifetime:      borrows the backing, the request and what was begun until it is awaited to the end.
// Errors:        those of the backend and of the hooks; a lost race is none.
#pragma once

#include <optional>
#include <string>

#include "backplane/rest/store_hooks.hpp"
#include "registry/environment.hpp"

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

// `begun` may be null.  `unclear`, unless it is null: whether the store has failed, which may have committed all the same.
Task<Result<CommitOutcome>> commit(const Backing& backing, RequestContext& context, ObjectChange change, BegunWrite* begun,
                                   bool* unclear = nullptr);

// The store takes nothing so large.  As upstream, what is written then is written once more without its managers, unless it is applied.
bool too_large(const Status& status);

// The same without an object of its own.  False: what `write` is about is no longer to be had.
Task<Result<bool>> commit_joined(const Backing& backing, RequestContext& context, BegunWrite& write);

}  // namespace backplane::registry
