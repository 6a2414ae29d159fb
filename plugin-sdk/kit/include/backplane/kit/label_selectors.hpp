// Converts metav1.LabelSelector members of objects, and labels of object trees.
//
// Thread-safety: pure functions.
// Errors:        kBadRequest for an invalid selector, with the text of the selectors' parser.
// Source:        k8s.io/apimachinery/pkg/apis/meta/v1 (LabelSelectorAsSelector).
#pragma once

#include "backplane/core/json.hpp"
#include "backplane/core/labels.hpp"
#include "backplane/core/selectors.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane::kit {

// Converts a metav1.LabelSelector. An empty selector selects all objects.
Result<LabelSelector> label_selector_of(const Object& selector);
// Returns metadata.labels, sorted by key.
Labels labels_of_object(const Object& object);

}  // namespace backplane::kit
