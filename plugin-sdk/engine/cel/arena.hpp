// The memory of one run: holds the values that an expression makes and frees them together.
//
// Thread-safety: one run has one arena, and one thread.
// Lifetime:      allocations live as long as the arena; no destructor is called, so only trivially destructible types are allowed.
// Errors:        an allocation beyond the limit throws Halted, which ends the run. Halted never leaves the run, and no operator can treat
//                it as a value.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <string_view>
#include <type_traits>
#include <vector>

namespace backplane::cel_detail {

// The reason for stopping a run that is not an error of its expression.
enum class Halt : unsigned char { kCost, kMemory, kCancelled };
// Thrown when the limit is reached.  A class, because g++ exports the type information of a thrown enumeration.
struct Halted {
  Halt why;
};

class Arena {
 public:
  // Far above the memory that the cost limit allows ordinary expressions.
  static constexpr std::size_t kLimit = std::size_t{64} << 20;

  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  template <class T>
  T* allocate(std::size_t count) {
    static_assert(std::is_trivially_destructible_v<T>);
    if (count > kLimit / sizeof(T)) throw Halted{Halt::kMemory};
    return static_cast<T*>(raw(count * sizeof(T)));
  }
  template <class T>
  const T* keep(const T& value) {
    return new (allocate<T>(1)) T(value);
  }
  std::string_view keep_text(std::string_view text) {
    char* copy = allocate<char>(text.size());
    if (!text.empty()) std::memcpy(copy, text.data(), text.size());
    return {copy, text.size()};
  }
  // Throws Halted if `bytes` more would exceed the limit.  Call it before memory is allocated outside of the arena.
  void expect(std::size_t bytes) const {
    if (bytes > kLimit - used_) throw Halted{Halt::kMemory};
  }

 private:
  static constexpr std::size_t kAlign = alignof(std::max_align_t);
  static constexpr std::size_t kChunk = 16 * 1024;

  void* raw(std::size_t bytes) {
    bytes = (bytes + kAlign - 1) & ~(kAlign - 1);
    if (bytes > static_cast<std::size_t>(end_ - next_)) grow(bytes);
    void* out = next_;
    next_ += bytes;
    return out;
  }
  void grow(std::size_t bytes) {
    expect(bytes);
    const std::size_t size = bytes > kChunk / 4 ? bytes + kChunk : kChunk;
    used_ += size;
    chunks_.push_back(std::make_unique_for_overwrite<std::byte[]>(size));
    next_ = chunks_.back().get();
    end_ = next_ + size;
  }

  // Most runs allocate little, which fits into this buffer.
  alignas(kAlign) std::byte first_[1024];
  std::byte* next_ = first_;
  std::byte* end_ = first_ + sizeof(first_);
  std::size_t used_ = 0;
  std::vector<std::unique_ptr<std::byte[]>> chunks_;
};

}  // namespace backplane::cel_detail
