// What the kinds of apps/v1 print and say alike.
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <vector>

#include "backplane/json.hpp"
#include "backplane/table.hpp"

namespace backplane::apps {

// The columns of -o wide behind a kind's own, and their cells.
std::vector<TableColumn> with_template_columns(std::vector<TableColumn> columns);
void add_template_cells(const Object& spec, Array& cells);

// A strategy of rolling updates as its Go struct is printed in messages.
std::string print_rolling_update(const Object& strategy);

// Warnings of a workload whose name becomes the host name of its pods.
std::vector<std::string> named_workload_warnings(const Object& object, const Object* old);

}  // namespace backplane::apps
