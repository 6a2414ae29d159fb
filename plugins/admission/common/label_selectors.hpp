// Label selectors on object trees, in addition to kit/label_selectors.hpp.
//
// Thread-safety: pure functions.
// Errors:        none.
// Source:        predicates/object of k8s.io/apiserver's webhooks.
#pragma once

#include "backplane/core/json.hpp"
#include "backplane/core/labels.hpp"
#include "backplane/core/selectors.hpp"
#include "backplane/kit/label_selectors.hpp"
#include "backplane/points/admission.hpp"

namespace backplane::admission {

using kit::label_selector_of;
using kit::labels_of_object;
// The labels of an object without a copy; null: there is no object, or it has no labels.
const Object* labels_in(const Object* object) noexcept;
bool selects_labels(const LabelSelector& selector, const Object* labels) noexcept;
// An objectSelector: true if it selects the old object or `object` (the current object of the write, or null). The options object of
// CONNECT cannot have labels, so only the empty selector selects it.
bool selects_object(const LabelSelector& selector, const AdmissionAttributes& attributes, const Object* object) noexcept;

}  // namespace backplane::admission
