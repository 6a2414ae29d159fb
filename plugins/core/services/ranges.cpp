#include "services/ranges.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <random>

#include "backplane/ip_text.hpp"

namespace backplane::core {
namespace {

constexpr int kMostHostBits = 62;  // addresses are counted in 64 bits; a wider range is used from its start

std::optional<int> number(std::string_view text) {
  int out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return out;
}

using Bytes = std::array<unsigned char, 16>;

// Decimal whatever zeros it begins with, as services have always been read.
bool parse_four(std::string_view text, Bytes& out) {
  for (int i = 0; i < 4; ++i) {
    const auto dot = i < 3 ? text.find('.') : text.size();
    if (dot == std::string_view::npos) return false;
    const auto part = number(text.substr(0, dot));
    if (!part || *part < 0 || *part > 255) return false;
    out[static_cast<std::size_t>(i)] = static_cast<unsigned char>(*part);
    text.remove_prefix(std::min(dot + 1, text.size()));
  }
  return true;
}

bool parse_address(std::string_view text, Bytes& out) {
  if (text.find(':') == std::string_view::npos) return parse_four(text, out);
  return read_ipv6(text, out.data());
}

std::string print(const Bytes& bytes, bool six) {
  char text[INET6_ADDRSTRLEN] = {};
  inet_ntop(six ? AF_INET6 : AF_INET, bytes.data(), text, sizeof text);
  return text;
}

bool bit_at(const Bytes& bytes, int bit) { return (bytes[static_cast<std::size_t>(bit / 8)] & (0x80u >> (bit % 8))) != 0; }

}  // namespace

std::optional<std::string> canonical_address(std::string_view text) {
  Bytes bytes{};
  if (!parse_address(text, bytes)) return std::nullopt;
  return print(bytes, text.find(':') != std::string_view::npos);
}

std::string_view family_of(std::string_view address) { return address.find(':') == std::string_view::npos ? "IPv4" : "IPv6"; }

Result<AddressRange> AddressRange::parse(std::string_view cidr) {
  const auto slash = cidr.find('/');
  const int bits = slash == std::string_view::npos ? -1 : number(cidr.substr(slash + 1)).value_or(-1);
  AddressRange out;
  out.six_ = cidr.find(':') != std::string_view::npos;
  const int width = out.six_ ? 128 : 32;
  if (!parse_address(cidr.substr(0, slash), out.base_) || bits < 0 || bits > width) {
    return bad_request("invalid CIDR address: " + std::string(cidr));
  }
  out.prefix_ = bits;
  for (int bit = bits; bit < width; ++bit)
    out.base_[static_cast<std::size_t>(bit / 8)] &= static_cast<unsigned char>(~(0x80u >> (bit % 8)));
  const std::uint64_t count = std::uint64_t{1} << std::min(width - bits, kMostHostBits);
  const std::uint64_t unusable = out.six_ ? 1 : 2;
  if (count <= unusable) return bad_request("service range " + std::string(cidr) + " is too small");
  out.size_ = count - unusable;
  return out;
}

std::string AddressRange::address(std::uint64_t index) const {
  Bytes bytes = base_;
  for (int i = (six_ ? 16 : 4) - 1; i >= 0 && index != 0; --i) {
    index += bytes[static_cast<std::size_t>(i)];
    bytes[static_cast<std::size_t>(i)] = static_cast<unsigned char>(index & 0xFF);
    index >>= 8;
  }
  return print(bytes, six_);
}

bool AddressRange::holds(std::string_view address) const {
  Bytes bytes{};
  if ((address.find(':') != std::string_view::npos) != six_ || !parse_address(address, bytes)) return false;
  bool network = true, broadcast = !six_;
  const int width = six_ ? 128 : 32;
  for (int bit = 0; bit < width; ++bit) {
    const bool set = bit_at(bytes, bit);
    if (bit < prefix_ && set != bit_at(base_, bit)) return false;
    if (bit >= prefix_) (set ? network : broadcast) = false;
  }
  return !network && !broadcast;
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
