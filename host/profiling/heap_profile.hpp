// What glibc's malloc holds, as a profile: bytes by arena. The allocator does not record which code has allocated them.
//
// Thread-safety: any thread. Takes the locks of all arenas, one after the other.
// Errors:        none; without memory for the report the profile is empty.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "profiling/profile.hpp"

namespace backplane::profiling {

// malloc_info(3): XML.
std::string malloc_report();

struct ArenaUse {
  std::string name;               // "arena 0"; "mmap": blocks that have a mapping of their own
  std::int64_t system_bytes = 0;  // taken from the kernel
  std::int64_t free_bytes = 0;    // of these
  std::int64_t used_bytes() const noexcept { return system_bytes - free_bytes; }
};
std::vector<ArenaUse> arenas_in(std::string_view report);

// Sample types system_space, free_space and inuse_space, in bytes.
Profile heap_profile(std::string_view report);

}  // namespace backplane::profiling
