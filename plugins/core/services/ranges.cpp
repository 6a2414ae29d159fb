#include "services/ranges.hpp"

#include <algorithm>
#include <charconv>
#include <random>

namespace backplane::core {
namespace {

constexpr int kMostHostBits = 62;       // the addresses of a range are numbered with 64 bits; only the beginning of a larger range is used
constexpr int kShortestSixPrefix = 64;  // upstream allocates no addresses of a larger range

std::optional<int> number(std::string_view text) {
  int out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return out;
}

constexpr int kBits = 128;

// The offset of an address's bits in 128 bits.
int offset(bool six) { return six ? 0 : kBits - 32; }

bool bit_at(const IpAddress& address, int bit) { return (address.bytes[static_cast<std::size_t>(bit / 8)] & (0x80u >> (bit % 8))) != 0; }

}  // namespace

std::optional<std::string> canonical_address(std::string_view text) {
  const auto address = parse_ip(text);
  return address ? std::optional(print_ip(*address)) : std::nullopt;
}

std::string_view family_of(std::string_view address) { return address.find(':') == std::string_view::npos ? "IPv4" : "IPv6"; }

Result<AddressRange> AddressRange::parse(std::string_view cidr) {
  const auto slash = cidr.find('/');
  const int bits = slash == std::string_view::npos ? -1 : number(cidr.substr(slash + 1)).value_or(-1);
  const auto base = parse_ip(cidr.substr(0, slash));
  const int width = base && base->six ? kBits : 32;
  if (!base || bits < 0 || bits > width) return bad_request("invalid CIDR address: " + std::string(cidr));
  if (base->six && bits < kShortestSixPrefix) {
    return bad_request("shortest allowed prefix length for service CIDR is " + std::to_string(kShortestSixPrefix) + ", got " +
                       std::to_string(bits));
  }
  AddressRange out;
  out.base_ = *base;
  out.prefix_ = bits + offset(base->six);
  for (int bit = out.prefix_; bit < kBits; ++bit) {
    out.base_.bytes[static_cast<std::size_t>(bit / 8)] &= static_cast<unsigned char>(~(0x80u >> (bit % 8)));
  }
  const std::uint64_t count = std::uint64_t{1} << std::min(width - bits, kMostHostBits);
  const std::uint64_t unusable = base->six ? 1 : 2;
  if (count <= unusable) return bad_request("service range " + std::string(cidr) + " is too small");
  out.size_ = count - unusable;
  return out;
}

std::string AddressRange::address(std::uint64_t index) const {
  IpAddress out = base_;
  for (auto byte = out.bytes.rbegin(); byte != out.bytes.rend() && index != 0; ++byte) {
    index += *byte;
    *byte = static_cast<unsigned char>(index & 0xFF);
    index >>= 8;
  }
  return print_ip(out);
}

std::optional<std::uint64_t> AddressRange::index(std::string_view text) const {
  const auto address = parse_ip(text);
  if (!address || address->six != base_.six) return std::nullopt;
  bool broadcast = !base_.six, beyond = false;
  std::uint64_t index = 0;
  for (int bit = 0; bit < kBits; ++bit) {
    const bool set = bit_at(*address, bit);
    if (bit < prefix_ && set != bit_at(base_, bit)) return std::nullopt;
    if (bit < prefix_) continue;
    if (!set) broadcast = false;
    beyond = beyond || (index >> 63) != 0;
    index = index << 1 | (set ? 1 : 0);
  }
  if (broadcast || (index == 0 && !beyond)) return std::nullopt;
  return beyond ? UINT64_MAX : index;
}

bool AddressRange::operator==(const AddressRange& other) const {
  return base_.six == other.base_.six && base_.bytes == other.base_.bytes && prefix_ == other.prefix_;
}

std::uint64_t AddressRange::band() const noexcept {
  constexpr std::uint64_t kLeast = 16, kMost = 256, kStep = 16;
  return size_ < kLeast ? 0 : std::clamp(size_ / kStep, kLeast, kMost);
}

Result<PortRange> PortRange::parse(std::string_view text) {
  const auto sign = text.find_first_of("-+");
  const auto first = number(text.substr(0, sign));
  auto last = sign == std::string_view::npos ? first : number(text.substr(sign + 1));
  if (first && last && sign != std::string_view::npos && text[sign] == '+') last = *first + *last;
  if (!first || !last || *first < 1 || *last > 65535 || *first > *last) {
    return bad_request("invalid port range: " + std::string(text));
  }
  return PortRange{*first, *last};
}

int PortRange::band() const noexcept {
  constexpr int kLeast = 16, kMost = 128, kStep = 32;
  const int size = last - first + 1;
  return size < kLeast ? 0 : std::clamp(size / kStep, kLeast, kMost);
}

std::uint64_t random_below(std::uint64_t limit) {
  thread_local std::mt19937_64 engine{std::random_device{}()};
  return std::uniform_int_distribution<std::uint64_t>(0, limit - 1)(engine);
}

}  // namespace backplane::core
