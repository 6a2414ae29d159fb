// Kinds that a body may name in addition to the served ones: the meta kinds, and the old versions that upstream's scheme still reads.
//
// Thread-safety: pure functions of constant tables.
#pragma once

#include <string>

#include "backplane/core/meta.hpp"
#include "backplane/rest/scheme.hpp"

namespace backplane::endpoints {

// Known to `scheme`, as an old version of a kind, or as a kind that every group version has (DeleteOptions, WatchEvent …).
bool is_known_kind(const Scheme& scheme, const GroupVersionKind& gvk);
// The type of its objects: that of the version, or that of the meta kind.  Null: there is none.
const Schema* type_of_known(const Scheme& scheme, const GroupVersionKind& gvk);
// The Go type as messages about conversions name it: "v1.Pod", "v1beta2.Deployment", "v1.Status".
std::string known_go_type(const GroupVersionKind& gvk);
// Whether a body of kind `given` is accepted where `wanted` is expected, although it has another version.
bool accepts_version(const GroupVersionKind& given, const GroupVersionKind& wanted);

}  // namespace backplane::endpoints
