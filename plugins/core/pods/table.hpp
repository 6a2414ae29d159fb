// Columns of pods, and the conditions of their rows.
//
// Thread-safety: pure functions.
#pragma once

#include <vector>

#include "backplane/table.hpp"

namespace backplane::core {

std::vector<TableColumn> pod_columns();
// Clients may leave rows out whose work is over.
void print_pod_conditions(const Object& pod, Array& conditions);

}  // namespace backplane::core
