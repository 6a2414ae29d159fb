// The table of pods, as kubectl shows it.
//
// Thread-safety: const; any thread.
#pragma once

#include "backplane/table.hpp"

namespace backplane::core {

const TableConvertor& pod_table();

}  // namespace backplane::core
