// Shuffle sharding: the queues that a flow may use are a hand of cards, which the flow's hash deals from a deck (all queues).
//
// Two flows seldom have the same hand, so a flow that fills its queues seldom blocks all queues of another flow.
// Thread-safety: pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace backplane::flowcontrol {

inline constexpr int kMostCards = 15;

// Whether a 64-bit hash has enough bits to deal `hand` cards from `deck`.
bool can_deal(int deck, int hand) noexcept;

// The first 8 bytes (little endian) of the SHA-256 of `schema`, a zero byte and `flow`: a flow has the same hand on every server.
std::uint64_t flow_hash(std::string_view schema, std::string_view flow);

struct Hand {
  std::array<int, kMostCards> cards{};
  int size = 0;
};
// `hand` different cards of [0, deck). Requires can_deal() for the two numbers.
Hand deal(std::uint64_t hash, int deck, int hand) noexcept;

}  // namespace backplane::flowcontrol
