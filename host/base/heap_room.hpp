// Room in the heap of this thread for what is about to be allocated.  The allocator grows the heaps of other threads than the first one
// page by page, with a system call for each that stops the page faults of all threads: a load of a large cache spends a fifth of its time
// there.  Made in one go it costs nothing that would not have been spent.
//
// Thread-safety: any thread; it is for this one.
// Errors:        none; where there is no memory nothing is done, and who allocates finds out.
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
