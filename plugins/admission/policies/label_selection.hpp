// Whether a label selector selects an object tree, whose labels are not copied.
//
// Thread-safety: pure functions.
#pragma once

#include "backplane/core/json.hpp"
#include "common/label_selectors.hpp"

namespace backplane::admission::policies {

// `labels`: metadata.labels; null: none.
bool selects(const LabelSelector& selector, const Object* labels) noexcept;

}  // namespace backplane::admission::policies
