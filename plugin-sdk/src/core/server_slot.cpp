#include "backplane/core/server_slot.hpp"

#include <atomic>
#include <utility>

#include "core/thread_slot.hpp"

namespace backplane BACKPLANE_API {

thread_local constinit ServerSlot t_server_slot = kNoServer;

namespace {

// The number of the server that has the slot; 0 if the slot is free.
constinit std::array<std::atomic<std::uint64_t>, kMostServers + 1> numbers{};
constinit std::atomic<std::uint64_t> last_number{0};

ServerSlot take_slot() noexcept {
  const std::uint64_t number = last_number.fetch_add(1) + 1;
  for (ServerSlot slot = 1; slot <= kMostServers; ++slot) {
    std::uint64_t free = 0;
    if (numbers[slot].compare_exchange_strong(free, number)) return slot;
  }
  return kNoServer;
}

}  // namespace

ServerSlot current_server_slot() noexcept { return t_server_slot; }
std::uint64_t current_server_number() noexcept { return numbers[t_server_slot].load(); }

ServerIdentity::ServerIdentity() noexcept : slot_(take_slot()) {}
ServerIdentity::~ServerIdentity() {
  if (slot_ != kNoServer) numbers[slot_].store(0);
}

ServerScope::ServerScope(ServerSlot slot) noexcept : previous_(std::exchange(t_server_slot, slot)) {}
ServerScope::~ServerScope() { t_server_slot = previous_; }

}  // namespace BACKPLANE_API
