// Functions that print the columns of pods in tables, and the conditions of the rows.
//
// Thread-safety: pure functions.
#pragma once

#include "backplane/kit/group_document.hpp"

namespace backplane::core {

void add_pod_printers(kit::GroupCode& code);
// Adds a condition to the row of a pod that has ended, so that clients can hide the row.
void print_pod_conditions(const Object& pod, Array& conditions);

}  // namespace backplane::core
