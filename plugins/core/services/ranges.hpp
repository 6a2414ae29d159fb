// The ranges from which cluster addresses and node ports are allocated.
//
// Thread-safety: values.
// Errors:        kBadRequest for invalid ranges.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "backplane/core/status.hpp"
#include "backplane/types/ip_addresses.hpp"

namespace backplane::core {

// The canonical text of an address ("10.0.0.7" for "010.0.0.7", "fd00::1" for "FD00:0::1"); nullopt for an invalid address.
std::optional<std::string> canonical_address(std::string_view text);
// "IPv4" or "IPv6".
std::string_view family_of(std::string_view address);

// An IPv4 or IPv6 range. The network address, and in IPv4 the broadcast address, are never allocated.
class AddressRange {
 public:
  // "10.0.0.0/24".
  static Result<AddressRange> parse(std::string_view cidr);

  // Address number `index` of the range; 0 is the network itself.
  std::string address(std::uint64_t index) const;
  bool holds(std::string_view address) const { return index(address).has_value(); }
  // The number of an address that can be allocated; nullopt for others.
  std::optional<std::uint64_t> index(std::string_view address) const;
  bool operator==(const AddressRange& other) const;
  // Addresses 1 … size() can be allocated.
  std::uint64_t size() const noexcept { return size_; }
  // Clients usually request addresses 1 … band() explicitly, so the other addresses are allocated first.
  std::uint64_t band() const noexcept;
  std::string_view family() const noexcept { return base_.six ? "IPv6" : "IPv4"; }

 private:
  IpAddress base_;
  int prefix_ = 0;  // its length in an address of 128 bits
  std::uint64_t size_ = 0;
};

struct PortRange {
  int first = 30000;
  int last = 32767;
  // "30000-32767", "30000+2767" or one port.
  static Result<PortRange> parse(std::string_view text);
  std::string text() const { return std::to_string(first) + "-" + std::to_string(last); }
  bool holds(std::int64_t port) const noexcept { return port >= first && port <= last; }
  // The number of ports at the start that are usually requested explicitly.
  int band() const noexcept;
};

// A random number below `limit`, which is above 0.
std::uint64_t random_below(std::uint64_t limit);

}  // namespace backplane::core
