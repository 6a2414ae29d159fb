// Annotations that represent members of kube-apiserver's internal struct of a kind (x-backplane-hidden-annotations): an object has them,
// its metadata alone does not.
//
// Thread-safety: functions without state.
#pragma once

#include <string>
#include <string_view>

#include "backplane/types/schema.hpp"

namespace backplane::schema {

class Type;
// Upstream's error for a hidden annotation that must be a number; empty: valid.
std::string hidden_annotation_problem(const Type& type, const Value& object);

// Whether `metadata` (JSON) has hidden annotations; false without a schema.
bool has_hidden_annotations(const Schema* schema, std::string_view metadata);
// Returns `metadata` without hidden annotations.
std::string without_hidden_annotations(const Schema& schema, std::string_view metadata);

}  // namespace backplane::schema
