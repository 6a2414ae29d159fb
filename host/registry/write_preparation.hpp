// The steps of a write that are the same for every Strategy (upstream: rest.BeforeCreate, rest.BeforeUpdate, rest.BeforeDelete).
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

// The names of a resource in requests, admission and errors. They belong to the served version, which may differ from the stored version.
struct ServedNames {
  GroupVersionKind kind;
  std::string resource;
};

class FieldManager;

// How a write is performed: its strategy, whether it is for a subresource, and the names under which it was requested.
struct WriteMode {
  const Strategy* strategy = nullptr;
  bool subresource = false;  // true: only the strategy determines status; false: an update does not change status
  bool run_admission = true;
  bool of_collection = false;                 // a delete of deletecollection: as upstream, admission receives no name
  const ServedNames* served_names = nullptr;  // null: the names of the stored version
  WriteAdmission* admission = nullptr;        // null: the admission of the server (Backing::admission)
  // Errors found in the served version; they are reported together with the errors of validation. Null: none.
  const FieldErrors* found_before = nullptr;
  // What the client has sent with an update; null: unknown.
  ClientWrite* sent = nullptr;
  // Records managedFields in the version of the written object; null: the caller records them, or they are not recorded.
  const FieldManager* fields = nullptr;
};

// Prepares a create: sets the namespace, calls the strategy, converts the object to canonical form, validates it and adds warnings.
// `object` has its name, uid and creationTimestamp. `gated`: the fields that feature gates remove before the strategy runs; null: none.
Status before_create(const ResourceConfig& config, const WriteMode& mode, const GatedFields* gated, RequestContext& context,
                     Object& object);

// Adds mode.found_before to `errors`.
void add_found_before(const WriteMode& mode, FieldErrors& errors);

// As before_create(), for an update. Copies immutable metadata from `old`. Precondition: metadata.resourceVersion is set.
Status before_update(const ResourceConfig& config, const WriteMode& mode, const GatedFields* gated, RequestContext& context, Object& object,
                     const Object& old);

// True if this update completes a deletion: `old` has a deletionTimestamp and no grace period, and `object` has no finalizers.
bool deletes_during_update(const Strategy& strategy, const Object& object, const Object& old);

enum class Grace : unsigned char {
  kNone,      // no grace period: the object is removed, or retained by its finalizers
  kGraceful,  // deletionTimestamp and grace period have been set in `object`
  kPending,   // a graceful deletion is in progress and may not be lengthened
};
// Checks the preconditions and applies the rules of the grace period; may change `object` and `options`.
Result<Grace> before_delete(const ResourceConfig& config, RequestContext& context, Object& object, DeleteOptions& options);

// Adds or removes the garbage collector's finalizers as the options request. True: the list of finalizers has changed.
bool set_collector_finalizers(const Strategy& strategy, Object& object, const DeleteOptions& options);

// Marks an object that finalizers retain: sets deletionTimestamp to now, unless it is earlier, and the grace period to 0. True: the object
// has changed.
bool mark_as_deleting(Object& object);

}  // namespace backplane::registry
