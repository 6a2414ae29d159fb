#include "transport/tls_memory.hpp"

#include <malloc.h>
#include <openssl/crypto.h>

#include <array>
#include <cstdlib>

namespace backplane {
namespace {

// Buffers of these sizes hold a received or sent record: 16 KiB and its header, padding and tag.
constexpr std::size_t kSmallest = 16 << 10;
constexpr std::size_t kLargest = 18 << 10;

// Four buffers are enough for a thread that reads one record, writes another one, and sometimes performs a handshake.
struct Kept {
  std::array<void*, 4> blocks{};
  std::size_t count = 0;
  ~Kept();
};

// OpenSSL also frees memory at the end of a thread, possibly after `kept` has been destroyed.
thread_local bool thread_ends = false;
thread_local Kept kept;

Kept::~Kept() {
  thread_ends = true;
  while (count > 0) std::free(blocks[--count]);
}

bool is_record(std::size_t size) noexcept { return size >= kSmallest && size <= kLargest; }

void* take(std::size_t size, const char*, int) {
  if (size == 0) return nullptr;
  if (!is_record(size)) return std::malloc(size);
  if (!thread_ends && kept.count > 0) return kept.blocks[--kept.count];
  return std::malloc(kLargest);
}

void* resize(void* block, std::size_t size, const char*, int) { return std::realloc(block, size); }

void recycle(void* block, const char*, int) {
  // take() may return a cached block for any record, so the block must have at least kLargest bytes.
  const bool fits = block != nullptr && malloc_usable_size(block) >= kLargest && malloc_usable_size(block) < 2 * kLargest;
  if (!fits || thread_ends || kept.count == kept.blocks.size()) return std::free(block);
  kept.blocks[kept.count++] = block;
}

}  // namespace

bool keep_tls_buffers() { return CRYPTO_set_mem_functions(take, resize, recycle) == 1; }

std::size_t kept_tls_buffers_for_test() { return kept.count; }

}  // namespace backplane
