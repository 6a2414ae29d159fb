// Label selectors as policies, bindings and paramRefs hold them (metav1.LabelSelector).
//
// Thread-safety: pure functions.
// Errors:        kBadRequest for a selector that validation of the policy does not let through.
#pragma once

#include "backplane/core/json.hpp"
#include "backplane/core/selectors.hpp"

namespace backplane::admission::policies {

// An empty selector selects everything.
Result<LabelSelector> label_selector_of(const Object& selector);
// `labels`: metadata.labels; null: none.
bool selects(const LabelSelector& selector, const Object* labels) noexcept;

}  // namespace backplane::admission::policies
