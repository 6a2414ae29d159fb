// Unmaps the pages of code and constants that the process has read so far. Most of them are needed at startup only: embedded documents,
// relocation tables, functions that run once. If such a page is accessed again, the kernel maps it again from the page cache, or reads it
// from the disk if the page cache no longer has it.
//
// Thread-safety: any thread; other threads may run the code meanwhile.
// Errors:        none; pages that are locked (mlock) stay mapped.
#pragma once

namespace backplane {

// Unmaps the pages of the executable and of all loaded libraries, except pages that the dynamic linker has changed (relocations).
void unmap_read_code() noexcept;

}  // namespace backplane
