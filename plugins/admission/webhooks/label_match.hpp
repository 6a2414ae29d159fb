// The label selectors of webhook configurations.
//
// Thread-safety: values and pure functions.
// Errors:        LabelMatch::problem: a selector that does not parse, with the text of metav1.LabelSelectorAsSelector's parser.
#pragma once

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"
#include "common/label_selectors.hpp"

namespace backplane::admission::webhooks {

struct LabelMatch {
  LabelSelector selector;
  Status problem;  // the selector cannot be used
  // True if every object matches.
  bool everything() const noexcept { return problem.ok() && selector.empty(); }
};

// `selector`: null or empty matches everything.
LabelMatch read_label_selector(const Object* selector);

}  // namespace backplane::admission::webhooks
