// Table cells of kinds that hold a pod spec, and of volumes.
//
// Thread-safety: pure functions.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "backplane/json.hpp"
#include "backplane/kit/group_document.hpp"

namespace backplane::workload {

// For the columns of a group's document: "containerNames" and "containerImages" of a list of containers, with commas between, and
// "accessModes" ("RWO,ROX").
std::map<std::string, kit::Printer, std::less<>> printers();

std::string print_access_modes(const Array* modes);

}  // namespace backplane::workload
