// The variable that current_server_slot() returns, for source files of the SDK that read it for each count.
//
// Thread-safety: one variable for each thread.
#pragma once

#include "backplane/core/server_slot.hpp"

namespace backplane {

extern thread_local constinit ServerSlot t_server_slot __attribute__((visibility("hidden")));

}  // namespace backplane
