// The steps every write shares around a Strategy: rest.BeforeCreate, rest.BeforeUpdate, rest.BeforeDelete.
//
// Thread-safety: pure functions on one request's trees.
// Errors:        complete Statuses (422 with causes, 400, 409).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backplane/rest/admission_runner.hpp"
#include "backplane/rest/resource_config.hpp"
#include "backplane/rest/roles.hpp"
#include "backplane/rest/strategy.hpp"
#include "engine/gated_fields.hpp"
#include "registry/client_write.hpp"
#include "registry/write_admission.hpp"

namespace backplane::registry {

// The names of a resource in requests, admission and errors: those of the served version, which may differ from the stored one.
struct ServedNames {
  GroupVersionKind kind;
  std::string resource;
};

class FieldManager;

// How a write is performed: its strategy, whether it is for a subresource, and the names under which it was requested.
struct WriteMode {
  const Strategy* strategy = nullptr;
  bool subresource = false;  // the strategy alone decides about status
  bool run_admission = true;
  bool of_collection = false;                 // one deletion of a collection's: admission receives no name, as upstream
  const ServedNames* served_names = nullptr;  // null: those of the stored version
  WriteAdmission* admission = nullptr;        // null: the server's
  // Errors found in the version that the client sent; reported together with the validation errors. Null: none.
  const FieldErrors* found_before = nullptr;
  // What the client sent with an update; null: not recorded.
  ClientWrite* sent = nullptr;
  // Records managed fields, in the version of the written object; null: the caller does, or they are not recorded.
  const FieldManager* fields = nullptr;
};

// Prepares a create: namespace, the strategy's preparation, validation, warnings, canonical order. `object` has its name, uid and
// creationTimestamp. `gated`: fields that feature gates remove first; null: none.
Status before_create(const ResourceConfig& config, const WriteMode& mode, const GatedFields* gated, RequestContext& context,
                     Object& object);

// Adds mode.found_before to `errors`.
void add_found_before(const WriteMode& mode, FieldErrors& errors);

// The same for an update; immutable metadata is copied from `old`. Precondition: metadata.resourceVersion is set.
Status before_update(const ResourceConfig& config, const WriteMode& mode, const GatedFields* gated, RequestContext& context, Object& object,
                     const Object& old);

// True if this update completes a deletion: no finalizer or grace period is left.
bool deletes_during_update(const Strategy& strategy, const Object& object, const Object& old);

enum class Grace : unsigned char {
  kNone,      // no grace period: the object is removed, or retained by its finalizers
  kGraceful,  // deletionTimestamp and grace period have been set in `object`
  kPending,   // a graceful deletion is in progress and may not be lengthened
};
// Preconditions and the rules of the grace period; may change `object` and `options`.
Result<Grace> before_delete(const ResourceConfig& config, RequestContext& context, Object& object, DeleteOptions& options);

// Sets the garbage collector's finalizers that the options request. True: the list of finalizers has changed.
bool set_collector_finalizers(const Strategy& strategy, Object& object, const DeleteOptions& options);

// Sets deletionTimestamp to now, unless it is earlier, and a grace period of 0, for objects that finalizers retain. True: the object has
// changed.
bool mark_as_deleting(Object& object);

}  // namespace backplane::registry
