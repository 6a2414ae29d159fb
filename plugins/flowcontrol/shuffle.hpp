// Shuffle sharding: the queues that a flow may use are a hand of cards, dealt from a deck (all queues) by the flow's hash.
//
// Two flows seldom have the same hand, so one that fills its queues leaves others theirs.
// Thread-safety: pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace backplane::flowcontrol {

inline constexpr int kMostCards = 15;

// Whether a hash holds enough for such a hand.
bool can_deal(int deck, int hand) noexcept;

// The first 64 bits, least significant first, of a SHA-256 over both: the same flow has the same hand on every server.
std::uint64_t flow_hash(std::string_view schema, std::string_view flow);

struct Hand {
  std::array<int, kMostCards> cards{};
  int size = 0;
};
// `hand` different cards of [0, deck).  Only for what can_deal().
Hand deal(std::uint64_t hash, int deck, int hand) noexcept;

}  // namespace backplane::flowcontrol
