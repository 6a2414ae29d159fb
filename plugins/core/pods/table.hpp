// Cells of the columns of pods, and the conditions of their rows.
//
// Thread-safety: pure functions.
#pragma once

#include "backplane/kit/group_document.hpp"

namespace backplane::core {

void add_pod_printers(kit::GroupCode& code);
// Clients may hide rows of pods that have ended.
void print_pod_conditions(const Object& pod, Array& conditions);

}  // namespace backplane::core
