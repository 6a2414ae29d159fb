// Table cells of volumes.
//
// Thread-safety: pure functions.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "backplane/core/json.hpp"
#include "backplane/kit/group_document.hpp"

namespace backplane::workload {

// Returns the printers for the columns of a group document: "accessModes" ("RWO,ROX").
std::map<std::string, kit::Printer, std::less<>> printers();

std::string print_access_modes(const Array* modes);

}  // namespace backplane::workload
