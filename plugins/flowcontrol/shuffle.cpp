#include "shuffle.hpp"

#include <openssl/evp.h>

#include <cmath>
#include <stdexcept>
#include <string>

namespace backplane::flowcontrol {
namespace {
// The maximum entropy of a hand. The 4 remaining bits of the hash make all values of the last card almost equally probable.
constexpr int kHashBits = 60;
constexpr int kMostQueues = 1 << 26;
}  // namespace

bool can_deal(int deck, int hand) noexcept {
  if (deck <= 0 || hand <= 0 || hand > deck || hand > kMostCards || deck > kMostQueues) return false;
  return std::ceil(std::log2(static_cast<double>(deck)) * hand) <= kHashBits;
}

std::uint64_t flow_hash(std::string_view schema, std::string_view flow) {
  std::string text(schema);
  text.push_back('\0');
  text.append(flow);
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  if (EVP_Digest(text.data(), text.size(), digest.data(), nullptr, EVP_sha256(), nullptr) != 1) {
    throw std::runtime_error("SHA-256 is not available");
  }
  std::uint64_t hash = 0;
  for (std::size_t i = 8; i-- > 0;) hash = hash << 8 | digest[i];
  return hash;
}

Hand deal(std::uint64_t hash, int deck, int hand) noexcept {
  Hand dealt;
  dealt.size = hand;
  // Card i is an index into the cards that are left. Its index into all cards is higher by one for every earlier card that is not higher.
  std::array<int, kMostCards> places{};
  for (int i = 0; i < hand; ++i) {
    const auto left = static_cast<std::uint64_t>(deck - i);
    places[static_cast<std::size_t>(i)] = static_cast<int>(hash % left);
    hash /= left;
  }
  for (int i = 0; i < hand; ++i) {
    int card = places[static_cast<std::size_t>(i)];
    for (int j = i; j-- > 0;) {
      if (card >= places[static_cast<std::size_t>(j)]) ++card;
    }
    dealt.cards[static_cast<std::size_t>(i)] = card;
  }
  return dealt;
}

}  // namespace backplane::flowcontrol
