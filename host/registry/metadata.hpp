// Checks and changes of metadata that the generic store makes in writes of every kind, in addition to the kind's Strategy
// (rest.FillObjectMetaSystemFields, EnsureObjectNamespace…).
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

// Sets metadata.namespace to `request_namespace`, which is empty for cluster-scoped kinds.
// Errors: kBadRequest if both are set and differ.
Status ensure_namespace(Object& object, std::string_view request_namespace);

// A name for generateName: `base`, shortened if necessary, and five random characters.
std::string generate_name(std::string_view base);

// metadata.resourceVersion as a number; 0 if it is empty.
// Errors: 500 without a reason, with strconv.ParseUint's message.
Result<std::uint64_t> parse_resource_version(std::string_view text);

// Removes repeated elements of metadata.ownerReferences and adds a Warning header that lists their UIDs. `after_admission`: the warning
// mentions that mutating admission has run.
void dedupe_owner_references(RequestContext& context, Object& object, bool after_admission);

// Removes the member `key` of metadata. The other members keep their order.
void erase_metadata_member(Object& object, std::string_view key);

// Converts the object to the canonical form of Schema::normalize(), in which objects are stored and sent. If `schema` is null, does not
// change the object. Errors: kBadRequest if the object is nested too deeply to be parsed again.
//         kInternalError if a strategy or an admission plugin has set a value that the schema does not allow.
Status canonical_form(const Schema* schema, Object& object);

}  // namespace backplane::registry
