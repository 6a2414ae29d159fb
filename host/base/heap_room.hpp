// Grows the heap of the calling thread before many allocations.  The allocator grows the heap of each thread, except the main thread, page
// by page. Each step is a system call during which page faults of all threads wait; this takes a fifth of the time of loading a large
// cache. make_heap_room() grows the heap in one step.
//
// Thread-safety: any thread; make_heap_room() affects only the heap of the calling thread.
// Errors:        none; if there is no memory, nothing is done.
#pragma once

#include <cstddef>
#include <string>

namespace backplane {

// Grows the heap for allocations of about `bytes` in total; by at most 4 MB.
void make_heap_room(std::size_t bytes) noexcept;

// Frees `text`, which another thread has allocated, and returns its pages to the system immediately, because the calling thread allocates
// from another heap and cannot reuse them.
void free_with_pages(std::string& text) noexcept;

// Returns the freed pages of all heaps to the system. Locks one heap after another, for a few milliseconds per hundreds of megabytes. To be
// called on a blocking thread at the end of a large job.
void return_heap_room() noexcept;

}  // namespace backplane
