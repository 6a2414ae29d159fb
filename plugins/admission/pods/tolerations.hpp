// Tolerations of pods (v1.Toleration as JSON objects): which one covers another, merging, allow lists.
//
// Thread-safety: pure functions.
// Source:        k8s.io/kubernetes/pkg/util/tolerations.
#pragma once

#include <optional>
#include <string_view>

#include "backplane/core/json.hpp"

namespace backplane::admission::pods {

// A toleration with the operator Exists.
Object toleration_of(std::string_view key, std::string_view effect, std::optional<std::int64_t> seconds = std::nullopt);

// Whether `cover` tolerates all taints that `toleration` tolerates.
bool covers(const Object& cover, const Object& toleration);

// The tolerations of both lists, in order, without tolerations that another toleration covers.
Array merge_tolerations(const Array* first, const Array* second, json::storage_ptr storage);

// Whether each toleration is covered by one of `allowed`; true if `allowed` is empty.
bool are_allowed(const Array* tolerations, const Array& allowed);

// Replaces each toleration that has the same key, effect, operator and value. If there is none, appends `toleration`.
void add_or_replace_toleration(Object& pod_spec, const Object& toleration);

}  // namespace backplane::admission::pods
