// Events between events.k8s.io/v1 and the core group's v1, in which they are stored: the same members under other names.
//
// Thread-safety: pure functions.
// Errors:        the Scheme's for registering twice.
#pragma once

#include "backplane/rest/scheme.hpp"

namespace backplane::events {

inline const GroupVersionKind kStored{"", "v1", "Event"};
inline const GroupVersionKind kServed{"events.k8s.io", "v1", "Event"};

Status add_conversions(Scheme& scheme);
// From events.k8s.io, in one of its versions, to the core group.
Status to_core_event(Object& event);

}  // namespace backplane::events
