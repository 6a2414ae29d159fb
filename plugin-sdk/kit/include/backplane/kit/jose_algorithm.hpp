// The signature algorithms of JSON Web Signatures (RFC 7518, section 3.1) that tokens may use: RSA and ECDSA. They do not include `none`,
// HMAC and EdDSA, so no key verifies a token with one of these.
//
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {
namespace kit BACKPLANE_API {

enum class JoseAlgorithm : std::uint8_t { kRS256, kRS384, kRS512, kPS256, kPS384, kPS512, kES256, kES384, kES512 };

// "RS256" …
std::string_view jose_algorithm_name(JoseAlgorithm algorithm) noexcept;
// nullopt for any other name; names are compared exactly.
std::optional<JoseAlgorithm> jose_algorithm_of(std::string_view name) noexcept;

// A set of algorithms.
class JoseAlgorithms {
 public:
  constexpr JoseAlgorithms() noexcept = default;
  constexpr JoseAlgorithms(std::initializer_list<JoseAlgorithm> algorithms) noexcept {
    for (const JoseAlgorithm each : algorithms) add(each);
  }
  static constexpr JoseAlgorithms all() noexcept {
    JoseAlgorithms out;
    out.bits_ = 0x1FF;
    return out;
  }
  constexpr void add(JoseAlgorithm algorithm) noexcept { bits_ = static_cast<std::uint16_t>(bits_ | bit(algorithm)); }
  constexpr bool contains(JoseAlgorithm algorithm) const noexcept { return (bits_ & bit(algorithm)) != 0; }
  constexpr bool empty() const noexcept { return bits_ == 0; }
  bool operator==(const JoseAlgorithms&) const = default;

 private:
  static constexpr std::uint16_t bit(JoseAlgorithm algorithm) noexcept {
    return static_cast<std::uint16_t>(1U << static_cast<unsigned>(algorithm));
  }
  std::uint16_t bits_ = 0;
};

}  // namespace BACKPLANE_API
}  // namespace BACKPLANE_API
