// Stores the names of objects, one for each node of the graph. A name takes its length, rounded up to 8 bytes. Its handle has 4 bytes.
//
// Thread-safety: one thread.
// Lifetime:      a view is valid until the name's release().
// Errors:        none. A name ends at its first NUL.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace backplane::controllers::gc {

class NamePool {
 public:
  // The handle of the empty name.
  static constexpr std::uint32_t kEmpty = 0;

  std::uint32_t take(std::string_view name);
  void release(std::uint32_t handle);
  std::string_view text(std::uint32_t handle) const;

  std::size_t bytes() const noexcept { return bytes_; }

 private:
  static constexpr std::uint32_t kUnit = 8, kChunkUnits = 8192;  // a chunk has 64 KiB
  static constexpr std::uint32_t kMostUnits = 32;                // of a name that shares a chunk with other names

  char* at(std::uint32_t handle) const { return chunks_[handle / kChunkUnits].get() + std::size_t{handle % kChunkUnits} * kUnit; }
  std::uint32_t add_chunk(std::size_t bytes);
  std::uint32_t room(std::uint32_t units);

  std::vector<std::unique_ptr<char[]>> chunks_{1};    // the first is empty: no name has the handle kEmpty
  std::vector<std::uint32_t> free_chunks_;            // positions of released chunks
  std::array<std::uint32_t, kMostUnits + 1> free_{};  // by units: the first released block, which contains the handle of the next
  std::uint32_t next_ = 0, left_ = 0;                 // the unused rest of a chunk, in units
  std::size_t bytes_ = 0;
};

}  // namespace backplane::controllers::gc
