// Annotations that stand for members of kube-apiserver's own struct of a kind (x-backplane-hidden-annotations): an object shows them, its
// metadata alone does not.
//
// Thread-safety: functions without state.
#pragma once

#include <string>
#include <string_view>

#include "backplane/types/schema.hpp"

namespace backplane::schema {

class Type;
// What upstream says of a hidden annotation that stands for a number and is none; empty: nothing.
std::string hidden_annotation_problem(const Type& type, const Value& object);

// Whether `metadata` (the JSON of an object's member of that name) has such; false without a schema.
bool has_hidden_annotations(const Schema* schema, std::string_view metadata);
// The same JSON without them.
std::string without_hidden_annotations(const Schema& schema, std::string_view metadata);

}  // namespace backplane::schema
