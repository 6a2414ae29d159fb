// Identifiers of objects in 16 bytes.
//
// Thread-safety: values.
// Errors:        none. A text that is not a UUID is hashed. Two such texts may collide, so decisions must compare the texts of live
//                objects.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace backplane::controllers::gc {

struct Uid {
  std::array<std::uint8_t, 16> bytes{};
  auto operator<=>(const Uid&) const = default;

  static Uid of(std::string_view text);
  // hex() returns 32 hexadecimal digits, which from_hex() reads.
  std::string hex() const;
  static Uid from_hex(std::string_view hex);
  std::size_t hash() const noexcept {
    std::size_t out = 0;
    std::memcpy(&out, bytes.data(), sizeof out);
    std::size_t rest = 0;
    std::memcpy(&rest, bytes.data() + sizeof out, sizeof rest);
    return out ^ (rest * 0x9E3779B97F4A7C15U);
  }
};

}  // namespace backplane::controllers::gc
