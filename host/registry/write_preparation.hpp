// The steps every write shares around a Strategy: rest.BeforeCreate, rest.BeforeUpdate, rest.BeforeDelete.
//
// Thread-safety: pure functions on one request's trees.
// Errors:        complete Statuses (422 with causes, 400, 409).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backplane/rest/roles.hpp"
#include "backplane/rest/strategy.hpp"
#include "engine/gated_fields.hpp"

namespace backplane::registry {

// What requests, admission and errors call a resource: the served version's names, which need not be those of the stored one.
struct ServedNames {
  GroupVersionKind kind;
  std::string resource;
};

class FieldManager;

// Which strategy a write goes through, whether it is the resource's own or a subresource's, and under what name it came.
struct WriteMode {
  const Strategy* strategy = nullptr;
  bool subresource = false;  // the strategy alone decides what becomes of status
  bool run_admission = true;
  const ServedNames* served_names = nullptr;  // null: the stored version's own
  AdmissionRunner* admission = nullptr;       // null: the server's
  // What was found on the form that the client sent: told together with what validation finds.  Null: nothing.
  const FieldErrors* found_before = nullptr;
  // What the client sent with an update; null: nothing is kept of it.
  ClientWrite* sent = nullptr;
  // Who records whose fields are whose, on the form in which objects come to this write; null: somebody above, or nobody.
  const FieldManager* fields = nullptr;
};

// Namespace, the strategy's preparation, validation, warnings, canonical order.  `object` has its name, uid and creationTimestamp.
// `gated`: what feature gates take out of it first; null: nothing.
Status before_create(const ResourceConfig& config, const WriteMode& mode, const GatedFields* gated, RequestContext& context,
                     Object& object);

// Adds what `mode` says was found before.
void add_found_before(const WriteMode& mode, FieldErrors& errors);

// The same for an update; immutable metadata of `old` is copied over.  metadata.resourceVersion is set.
Status before_update(const ResourceConfig& config, const WriteMode& mode, const GatedFields* gated, RequestContext& context, Object& object,
                     const Object& old);

// True when this update completes a deletion: nothing holds the object any more.
bool deletes_during_update(const Strategy& strategy, const Object& object, const Object& old);

enum class Grace : unsigned char {
  kNone,      // not gracefully: remove it, or let its finalizers hold it
  kGraceful,  // `object` has been given its deletionTimestamp and grace period
  kPending,   // a graceful deletion is under way and may not be lengthened
};
// Preconditions and the rules of the grace period; may change `object` and `options`.
Result<Grace> before_delete(const ResourceConfig& config, RequestContext& context, Object& object, DeleteOptions& options);

// The finalizers the garbage collector acts on, as the options ask for them.  True: the list changed and has been set.
bool set_collector_finalizers(const Strategy& strategy, Object& object, const DeleteOptions& options);

// deletionTimestamp now (at the latest) and a grace period of 0, for objects that their finalizers hold.  True: that changed something.
bool mark_as_deleting(Object& object);

}  // namespace backplane::registry
