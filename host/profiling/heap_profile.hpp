// The memory of glibc's malloc as a profile: the bytes of each arena. The allocator does not record which code has allocated them.
//
// Thread-safety: any thread. Locks all arenas, one after the other.
// Errors:        none; if there is no memory for the report, the profile is empty.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "profiling/profile.hpp"

namespace backplane::profiling {

// The output of malloc_info(3), an XML document.
std::string malloc_report();

struct ArenaUse {
  std::string name;               // "arena 0" …, or "mmap" for the blocks that are mapped separately
  std::int64_t system_bytes = 0;  // the memory that the arena has from the kernel
  std::int64_t free_bytes = 0;    // the part of system_bytes that is free
  std::int64_t used_bytes() const noexcept { return system_bytes - free_bytes; }
};
std::vector<ArenaUse> arenas_in(std::string_view report);

// The report as a profile with the sample types system_space, free_space and inuse_space, in bytes.
Profile heap_profile(std::string_view report);

}  // namespace backplane::profiling
