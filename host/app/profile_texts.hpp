// The text pages of /debug/pprof/.
//
// Thread-safety: any thread. Pages with names of functions read symbol tables: not on an event loop.
// Errors:        none.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "app/profile_handlers.hpp"
#include "profiling/lock_waits.hpp"
#include "profiling/thread_stacks.hpp"

namespace backplane {

std::string profile_index();
// The arguments of the command line, separated by NUL.
std::string command_line();
// One line per thread: id, name, processor time in milliseconds.
std::string thread_lines(const std::vector<profiling::ThreadStack>& threads);

// ?debug=1 in the format of Go's goroutine profile: "2 @ 0x1 0x2" and a line for each address.
std::string stacks_by_count(const std::vector<profiling::ThreadStack>& threads, const std::vector<Activity>& activities);
// ?debug=2: each thread with its state and its stack, as Go's panics show goroutines.
std::string stacks_by_thread(const std::vector<profiling::ThreadStack>& threads, const std::vector<Activity>& activities);

// ?debug=1 in the format of Go's block profile: "NANOSECONDS COUNT @ 0x1 0x2" and a line for each address, the longest waits first.
std::string waits_by_stack(const std::map<profiling::Stack, profiling::LockWaits>& waits);

// "0x1f00 main" for each address in `addresses`, which '+' separates.
std::string symbol_lines(std::string_view addresses);

}  // namespace backplane
