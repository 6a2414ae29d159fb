// Grows the heap of the calling thread before many allocations.  The allocator grows the heaps of all threads but the first page by page,
// with a system call for each page that blocks the page faults of all threads: a fifth of the time of loading a large cache.  One larger
// step avoids that.
//
// Thread-safety: any thread; affects only the heap of the calling thread.
// Errors:        none; without memory nothing is done, and the later allocation fails.
#pragma once

#include <cstddef>
#include <string>

namespace backplane {

// For about `bytes` in pieces; at most 4 MB.
void make_heap_room(std::size_t bytes) noexcept;

// Frees `text`, which another thread allocated, and returns its pages to the system at once: this thread cannot use them again, because it
// allocates from another heap.
void free_with_pages(std::string& text) noexcept;

// Returns the freed pages of all heaps to the system. It locks one heap after another, a few milliseconds for hundreds of megabytes: for
// the end of a large job, on a blocking thread.
void return_heap_room() noexcept;

}  // namespace backplane
