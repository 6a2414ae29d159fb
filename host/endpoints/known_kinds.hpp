// The kinds that a body may have in addition to the served kinds: meta kinds, and old versions that upstream's scheme still accepts.
//
// Thread-safety: pure functions of constant tables.
#pragma once

#include <string>

#include "backplane/core/meta.hpp"
#include "backplane/rest/scheme.hpp"

namespace backplane::endpoints {

// Returns true if `scheme` has the kind, if the kind is in a table of old versions, or if it is a kind of every group version
// (DeleteOptions, WatchEvent …).
bool is_known_kind(const Scheme& scheme, const GroupVersionKind& gvk);
// Returns the schema of the kind in its version, or the schema of the meta kind; null if there is none.
const Schema* type_of_known(const Scheme& scheme, const GroupVersionKind& gvk);
// Returns the Go type as messages about conversions print it: "v1.Pod", "v1beta2.Deployment", "v1.Status".
std::string known_go_type(const GroupVersionKind& gvk);
// Returns true if a body of kind `given` is accepted where `wanted` is expected, although the version differs.
bool accepts_version(const GroupVersionKind& given, const GroupVersionKind& wanted);

}  // namespace backplane::endpoints
