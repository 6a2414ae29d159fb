#include "services/allocator.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <random>

namespace backplane::core {
namespace {

constexpr std::uint32_t kMaxAddresses = 1u << 16;

// Explicit addresses are usually asked for from the start of a range: automatic ones keep away from it.
std::uint32_t band_of(std::uint32_t size) {
  constexpr std::uint32_t kLeast = 16, kMost = 256, kStep = 16;
  return size < kLeast ? 0 : std::clamp(size / kStep, kLeast, kMost);
}

std::optional<int> number(std::string_view text) {
  int out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return out;
}

std::uint32_t random_below(std::uint32_t limit) {
  thread_local std::mt19937 engine{std::random_device{}()};
  return std::uniform_int_distribution<std::uint32_t>(0, limit - 1)(engine);
}

}  // namespace

Result<AddressRange> AddressRange::parse(std::string_view cidr) {
  const auto slash = cidr.find('/');
  const std::string host(cidr.substr(0, slash));
  AddressRange out;
  out.text_ = cidr;
  out.six_ = host.find(':') != std::string::npos;
  const int width = out.six_ ? 128 : 32;
  const auto bits = slash == std::string_view::npos ? std::nullopt : number(cidr.substr(slash + 1));
  if (inet_pton(out.six_ ? AF_INET6 : AF_INET, host.c_str(), out.base_) != 1 || !bits || *bits < 0 || *bits > width) {
    return bad_request("invalid CIDR address: " + std::string(cidr));
  }
  for (int bit = *bits; bit < width; ++bit) out.base_[bit / 8] &= static_cast<unsigned char>(~(0x80u >> (bit % 8)));
  const int host_bits = std::min(width - *bits, 16);
  const std::uint32_t count = std::min(kMaxAddresses, 1u << host_bits);
  // Neither the network nor, in IPv4, the broadcast address.
  const std::uint32_t unusable = out.six_ ? 1 : 2;
  if (count <= unusable) return bad_request("service range " + std::string(cidr) + " is too small");
  out.size_ = count - unusable;
  return out;
}

std::string AddressRange::address(std::uint32_t index) const {
  unsigned char bytes[16];
  std::memcpy(bytes, base_, sizeof bytes);
  const int width = six_ ? 16 : 4;
  std::uint32_t carry = index;
  for (int i = width - 1; i >= 0 && carry != 0; --i) {
    carry += bytes[i];
    bytes[i] = static_cast<unsigned char>(carry & 0xFF);
    carry >>= 8;
  }
  char text[INET6_ADDRSTRLEN] = {};
  inet_ntop(six_ ? AF_INET6 : AF_INET, bytes, text, sizeof text);
  return text;
}

std::optional<std::uint32_t> AddressRange::index_of(std::string_view address) const {
  unsigned char bytes[16] = {};
  const std::string text(address);
  if (inet_pton(six_ ? AF_INET6 : AF_INET, text.c_str(), bytes) != 1) return std::nullopt;
  const int width = six_ ? 16 : 4;
  std::uint64_t index = 0;
  for (int i = 0; i < width; ++i) {
    if (i < width - 4) {
      if (bytes[i] != base_[i]) return std::nullopt;
      continue;
    }
    if (bytes[i] < base_[i] && index == 0) return std::nullopt;
    index = (index << 8) + bytes[i] - base_[i];
  }
  if (index == 0 || index > size_) return std::nullopt;
  return static_cast<std::uint32_t>(index);
}

Result<PortRange> PortRange::parse(std::string_view text) {
  // "first-last", "first+more" or one port: k8s.io/apimachinery/pkg/util/net.PortRange.
  const auto sign = text.find_first_of("-+");
  const auto first = number(text.substr(0, sign));
  auto last = sign == std::string_view::npos ? first : number(text.substr(sign + 1));
  if (first && last && sign != std::string_view::npos && text[sign] == '+') last = *first + *last;
  if (!first || !last || *first < 1 || *last > 65535 || *first > *last) {
    return bad_request("invalid port range: " + std::string(text));
  }
  return PortRange{*first, *last};
}

bool NumberPool::take(std::uint32_t number) {
  std::lock_guard lock(mutex_);
  return taken_.insert(number).second;
}

std::optional<std::uint32_t> NumberPool::pick(std::uint32_t first, std::uint32_t last) {
  if (first > last) return std::nullopt;
  const std::uint32_t count = last - first + 1;
  const std::uint32_t start = random_below(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t number = first + (start + i) % count;
    if (taken_.insert(number).second) return number;
  }
  return std::nullopt;
}

std::optional<std::uint32_t> NumberPool::take_any() {
  std::lock_guard lock(mutex_);
  if (const auto upper = pick(first_ + band_, last_)) return upper;
  return band_ == 0 ? std::nullopt : pick(first_, first_ + band_ - 1);
}

void NumberPool::release(std::uint32_t number) {
  std::lock_guard lock(mutex_);
  taken_.erase(number);
}

bool NumberPool::is_taken(std::uint32_t number) {
  std::lock_guard lock(mutex_);
  return taken_.contains(number);
}

ServiceAllocator::ServiceAllocator(AddressRange addresses, PortRange ports)
    : addresses_(std::move(addresses)),
      ports_(ports),
      address_pool_(1, addresses_.size(), band_of(addresses_.size())),
      port_pool_(static_cast<std::uint32_t>(ports.first), static_cast<std::uint32_t>(ports.last),
                 std::min(band_of(static_cast<std::uint32_t>(ports.last - ports.first + 1)), 128u)) {}

std::string ServiceAllocator::take_address(std::string_view address) {
  const auto index = addresses_.index_of(address);
  if (!index) {
    return "failed to allocate IP " + std::string(address) + ": the provided IP (" + std::string(address) +
           ") is not in the valid range. The range of valid IPs is " + addresses_.text();
  }
  if (!address_pool_.take(*index)) return "failed to allocate IP " + std::string(address) + ": provided IP is already allocated";
  return {};
}
std::optional<std::string> ServiceAllocator::take_any_address() {
  const auto index = address_pool_.take_any();
  if (!index) return std::nullopt;
  return addresses_.address(*index);
}
void ServiceAllocator::release_address(std::string_view address) {
  if (const auto index = addresses_.index_of(address)) address_pool_.release(*index);
}
std::string ServiceAllocator::take_port(std::int64_t port) {
  if (!ports_.holds(port)) {
    return "provided port is not in the valid range. The range of valid ports is " + std::to_string(ports_.first) + "-" +
           std::to_string(ports_.last);
  }
  return port_pool_.take(static_cast<std::uint32_t>(port)) ? "" : "provided port is already allocated";
}
std::optional<std::int64_t> ServiceAllocator::take_any_port() {
  const auto port = port_pool_.take_any();
  if (!port) return std::nullopt;
  return static_cast<std::int64_t>(*port);
}
void ServiceAllocator::release_port(std::int64_t port) {
  if (ports_.holds(port)) port_pool_.release(static_cast<std::uint32_t>(port));
}
bool ServiceAllocator::port_is_taken(std::int64_t port) {
  return ports_.holds(port) && port_pool_.is_taken(static_cast<std::uint32_t>(port));
}

}  // namespace backplane::core
