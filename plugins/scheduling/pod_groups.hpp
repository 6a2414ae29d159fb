// The alpha kinds of scheduling.k8s.io: behaviour beyond the group's document.
//
// Thread-safety: pure functions.
#pragma once

#include "backplane/kit/group_document.hpp"

namespace backplane::scheduling {

void add_pod_groups(kit::GroupCode& code);

}  // namespace backplane::scheduling
