#include "base/heap_room.hpp"

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

namespace backplane {
namespace {

// Smaller than the size at which the allocator maps a block separately (M_MMAP_THRESHOLD), and than the free size at which it shrinks the
// heap (M_TRIM_THRESHOLD).
constexpr std::size_t kPiece = 768 * 1024;
constexpr std::size_t kMostPieces = 5;

// Calls madvise() for the pages that are completely within the block; a kernel without this advice ignores the call.
void advise(const void* piece, std::size_t size, int advice) noexcept {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto from = (reinterpret_cast<std::uintptr_t>(piece) + page - 1) & ~(page - 1);
  const auto to = (reinterpret_cast<std::uintptr_t>(piece) + size) & ~(page - 1);
  if (from < to) madvise(reinterpret_cast<void*>(from), to - from, advice);
}

// Maps memory for the pages in one call, so that they cause no page faults.
void populate(void* piece, std::size_t size) noexcept {
#ifdef MADV_POPULATE_WRITE
  advise(piece, size, MADV_POPULATE_WRITE);
#else
  (void)piece;
  (void)size;
#endif
}

}  // namespace

void make_heap_room(std::size_t bytes) noexcept {
  std::array<void*, kMostPieces> pieces{};
  std::size_t count = 0;
  for (; count < kMostPieces && bytes > 0; ++count) {
    const std::size_t size = std::min(bytes, kPiece);
    pieces[count] = std::malloc(size);
    if (pieces[count] == nullptr) break;
    populate(pieces[count], size);
    bytes -= size;
  }
  while (count > 0) std::free(pieces[--count]);
}

void free_with_pages(std::string& text) noexcept {
  constexpr std::size_t kWorth = 16 * 1024;
  if (text.size() >= kWorth) advise(text.data(), text.size(), MADV_DONTNEED);
  std::string().swap(text);
}

void return_heap_room() noexcept { malloc_trim(0); }

}  // namespace backplane
