// Label selectors of webhook configurations (metav1.LabelSelector) and the labels of objects.
//
// Thread-safety: values and pure functions.
// Errors:        LabelMatch::problem: a selector that does not parse, with the text of metav1.LabelSelectorAsSelector's parser.
#pragma once

#include "backplane/core/json.hpp"
#include "backplane/core/selectors.hpp"
#include "backplane/core/status.hpp"

namespace backplane::admission::webhooks {

struct LabelMatch {
  LabelSelector selector;
  Status problem;  // the selector cannot be used
  // True if every object matches.
  bool everything() const noexcept { return problem.ok() && selector.empty(); }
};

// `selector`: null or empty matches everything.
LabelMatch read_label_selector(const Object* selector);
// metadata.labels, sorted by key.
Labels labels_of_object(const Object& object);

}  // namespace backplane::admission::webhooks
