// The changes of metadata that every write makes, in addition to the rules of its kind (rest.FillObjectMetaSystemFields,
// EnsureObjectNamespace…).
//
// Thread-safety: pure functions on one request's tree.
// Errors:        upstream's messages; listed at each function.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/core/request.hpp"
#include "backplane/core/status.hpp"
#include "backplane/types/schema.hpp"

namespace backplane::registry {

// Clears the members that only the server may set: uid, creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds, selfLink.
void wipe_system_fields(Object& object);
// Sets uid and creationTimestamp.
void fill_system_fields(Object& object);

// metadata.namespace becomes `request_namespace` (empty for cluster-scoped kinds).
// Errors: kBadRequest when the object names another one.
Status ensure_namespace(Object& object, std::string_view request_namespace);

// A name for generateName: the base, cut so that the suffix fits, and five random characters.
std::string generate_name(std::string_view base);

// metadata.resourceVersion as a number; 0 when unset.
// Errors: 500 without a reason, with strconv.ParseUint's message.
Result<std::uint64_t> parse_resource_version(std::string_view text);

// Drops repeated metadata.ownerReferences and warns about them.  `after_admission` chooses the wording.
void dedupe_owner_references(RequestContext& context, Object& object, bool after_admission);

// Removes members without changing the order of the others.
void erase_metadata(Object& object, std::string_view key);

// Brings the tree into the schema's canonical form, in which objects are stored and sent. Errors: kBadRequest if it is nested too deeply to
// be parsed again; kInternalError if a strategy or an admission plugin left a value that the schema does not allow.
Status canonical_form(const Schema* schema, Object& object);

}  // namespace backplane::registry
