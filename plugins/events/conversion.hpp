// Converts events between events.k8s.io/v1 and the core group's v1, the stored version. Some members have different names in the two
// versions.
//
// Thread-safety: pure functions.
// Errors:        add_conversions(): that of the Scheme for a conversion that is registered already.
#pragma once

#include "backplane/rest/scheme.hpp"

namespace backplane::events {

inline const GroupVersionKind kStored{"", "v1", "Event"};
inline const GroupVersionKind kServed{"events.k8s.io", "v1", "Event"};

Status add_conversions(Scheme& scheme);
// Converts an event from any version of events.k8s.io to the core group's v1.
Status to_core_event(Object& event);

}  // namespace backplane::events
