// Table cells of kinds that hold a pod spec, and of volumes.
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <vector>

#include "backplane/json.hpp"
#include "backplane/table.hpp"

namespace backplane::workload {

// For columns over a list of containers: names and images, with commas between.
Value show_names(const Value* containers, std::int64_t now_unix);
Value show_images(const Value* containers, std::int64_t now_unix);
// "RWO,ROX".
Value show_access_modes(const Value* modes, std::int64_t now_unix);
std::string print_access_modes(const Array* modes);

// The columns of -o wide behind a kind's own: of spec.template, and of spec.selector as `selector` shows it (null: not shown).
std::vector<TableColumn> with_template_columns(std::vector<TableColumn> columns, PrintFound selector);

}  // namespace backplane::workload
