#include "gc/name_pool.hpp"

#include <cstring>

namespace backplane::controllers::gc {

std::uint32_t NamePool::add_chunk(std::size_t bytes) {
  std::size_t position = chunks_.size();
  if (free_chunks_.empty()) {
    chunks_.emplace_back();
  } else {
    position = free_chunks_.back();
    free_chunks_.pop_back();
  }
  chunks_[position] = std::make_unique_for_overwrite<char[]>(bytes);
  bytes_ += bytes;
  return static_cast<std::uint32_t>(position) * kChunkUnits;
}

// The rest of a chunk that is too small for the name is not used: at most 31 of 8192 units.
std::uint32_t NamePool::room(std::uint32_t units) {
  if (const std::uint32_t released = free_[units]; released != kEmpty) {
    std::memcpy(&free_[units], at(released), sizeof free_[units]);
    return released;
  }
  if (left_ < units) {
    next_ = add_chunk(std::size_t{kChunkUnits} * kUnit);
    left_ = kChunkUnits;
  }
  const std::uint32_t out = next_;
  next_ += units;
  left_ -= units;
  return out;
}

std::uint32_t NamePool::take(std::string_view name) {
  name = name.substr(0, name.find('\0'));
  if (name.empty()) return kEmpty;
  const std::size_t units = name.size() / kUnit + 1;
  const std::uint32_t handle = units > kMostUnits ? add_chunk(name.size() + 1) : room(static_cast<std::uint32_t>(units));
  std::memcpy(at(handle), name.data(), name.size());
  at(handle)[name.size()] = '\0';
  return handle;
}

void NamePool::release(std::uint32_t handle) {
  if (handle == kEmpty) return;
  const std::size_t length = text(handle).size(), units = length / kUnit + 1;
  if (units > kMostUnits) {
    chunks_[handle / kChunkUnits].reset();
    free_chunks_.push_back(handle / kChunkUnits);
    bytes_ -= length + 1;
    return;
  }
  std::memcpy(at(handle), &free_[units], sizeof free_[units]);
  free_[units] = handle;
}

std::string_view NamePool::text(std::uint32_t handle) const { return handle == kEmpty ? std::string_view() : std::string_view(at(handle)); }

}  // namespace backplane::controllers::gc
