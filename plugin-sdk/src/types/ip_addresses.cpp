#include "backplane/types/ip_addresses.hpp"

#include <algorithm>

#include "backplane/core/json_access.hpp"
#include "backplane/core/status.hpp"
#include "backplane/types/ip_text.hpp"
#include "text/quantity.hpp"

namespace backplane BACKPLANE_API {
namespace {

constexpr int kMappedBits = 96;  // the length of the prefix of IPv4-mapped IPv6 addresses

bool parse_decimal(std::string_view text, int most, int& out, bool& leading_zeros) {
  if (text.empty() || text.size() > 8) return false;
  int number = 0;
  for (char digit : text) {
    if (digit < '0' || digit > '9') return false;
    number = number * 10 + (digit - '0');
  }
  leading_zeros = leading_zeros || (text.size() > 1 && text[0] == '0');
  out = number;
  return number <= most;
}

bool parse_four(std::string_view text, IpAddress& out) {
  for (int part = 0; part < 4; ++part) {
    const auto dot = text.find('.');
    if ((dot == std::string_view::npos) != (part == 3)) return false;
    int number = 0;
    if (!parse_decimal(text.substr(0, dot), 255, number, out.leading_zeros)) return false;
    out.bytes[static_cast<std::size_t>(12 + part)] = static_cast<std::uint8_t>(number);
    if (dot != std::string_view::npos) text.remove_prefix(dot + 1);
  }
  return true;
}

std::string print_four(const IpAddress& address) {
  std::string out;
  for (std::size_t i = 12; i < 16; ++i) out += (i > 12 ? "." : "") + std::to_string(address.bytes[i]);
  return out;
}

}  // namespace

std::optional<IpAddress> parse_ip(std::string_view text) {
  IpAddress out;
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return parse_four(text, out) ? std::optional(out) : std::nullopt;
  out.six = true;
  std::string six(text);
  if (IpAddress tail; text.find('.', colon) != std::string_view::npos && parse_four(text.substr(colon + 1), tail)) {
    out.leading_zeros = tail.leading_zeros;
    six = std::string(text.substr(0, colon + 1)) + print_four(tail);
  }
  if (!read_ipv6(six, out.bytes.data())) return std::nullopt;
  return out;
}

namespace {

// Prints an address as RFC 5952 requires: lower case, no leading zeros, and "::" for the first of the longest sequences of two or more zero
// groups.
std::string print_six(const IpAddress& address) {
  std::array<unsigned, 8> groups{};
  for (std::size_t i = 0; i < 8; ++i) groups[i] = static_cast<unsigned>(address.bytes[2 * i] << 8 | address.bytes[2 * i + 1]);
  std::size_t run = 8, run_length = 1;
  for (std::size_t i = 0; i < 8; ++i) {
    std::size_t end = i;
    while (end < 8 && groups[end] == 0) ++end;
    if (end - i > run_length) run = i, run_length = end - i;
  }
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  for (std::size_t i = 0; i < 8; ++i) {
    if (i == run) {
      out += "::";
      i += run_length - 1;
      continue;
    }
    if (!out.empty() && out.back() != ':') out += ':';
    bool started = false;
    for (int shift = 12; shift >= 0; shift -= 4) {
      const unsigned digit = groups[i] >> shift & 0xF;
      started = started || digit != 0 || shift == 0;
      if (started) out += kHex[digit];
    }
  }
  return out;
}

}  // namespace

bool IpAddress::mapped() const noexcept {
  return six && bytes[10] == 0xFF && bytes[11] == 0xFF && std::all_of(bytes.begin(), bytes.begin() + 10, [](auto b) { return b == 0; });
}

std::string print_ip(const IpAddress& address) { return address.six && !address.mapped() ? print_six(address) : print_four(address); }

namespace {

struct Range {
  IpAddress address;
  IpAddress network;
  int bits = 0;  // prefix length in the text: of 32 bits (IPv4) or 128 bits (IPv6)
  bool leading_zeros = false;
};

std::optional<Range> parse_range(std::string_view text) {
  const auto slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto address = parse_ip(text.substr(0, slash));
  Range out;
  if (!address || !parse_decimal(text.substr(slash + 1), address->six ? 128 : 32, out.bits, out.leading_zeros)) return std::nullopt;
  out.leading_zeros = out.leading_zeros || address->leading_zeros;
  out.address = out.network = *address;
  const int fixed = address->six ? out.bits : out.bits + kMappedBits;
  for (int bit = fixed; bit < 128; ++bit)
    out.network.bytes[static_cast<std::size_t>(bit / 8)] &= static_cast<std::uint8_t>(~(0x80u >> (bit % 8)));
  return out;
}

std::string print_network(const Range& range) {
  const int bits = range.network.mapped() ? range.bits - kMappedBits : range.bits;
  return print_ip(range.network) + "/" + std::to_string(bits);
}

}  // namespace

std::vector<std::string> legacy_ip_problems(std::string_view text) {
  const auto address = parse_ip(text);
  if (!address) return {"must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"};
  std::vector<std::string> out;
  if (address->leading_zeros)
    out.emplace_back("must not have leading 0s");
  else if (address->mapped())
    out.emplace_back("must not be an IPv4-mapped IPv6 address");
  return out;
}

std::vector<std::string> legacy_cidr_problems(std::string_view text) {
  const auto range = parse_range(text);
  if (!range) return {"must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"};
  if (range->leading_zeros) return {"must not have leading 0s in IP or prefix length"};
  if (range->address.mapped()) return {"must not have an IPv4-mapped IPv6 address"};
  if (range->address.bytes != range->network.bytes) return {"must not have bits set beyond the prefix length"};
  return {};
}

std::vector<std::string> ip_warnings(const std::string& path, std::string_view text) {
  const auto address = parse_ip(text);
  if (!address) return {};
  const std::string canonical = print_ip(*address);
  if (address->leading_zeros || address->mapped()) {
    return {path + ": non-standard IP address " + quoted(text) + " is invalid: use " + quoted(canonical)};
  }
  if (address->six && canonical != text) {
    return {path + ": IPv6 address " + quoted(text) + " should be in RFC 5952 canonical format (" + quoted(canonical) + ")"};
  }
  return {};
}

std::vector<std::string> balancer_warnings(const Object& object) {
  std::vector<std::string> out;
  each(object_or_empty(object_or_empty(object, "status"), "loadBalancer"), "ingress", [&](const Object& point, std::size_t i) {
    for (std::string& text : ip_warnings(at("status.loadBalancer.ingress", i), get_string(point, "ip"))) out.push_back(std::move(text));
  });
  return out;
}

std::vector<std::string> cidr_warnings(const std::string& path, std::string_view text) {
  const auto range = parse_range(text);
  if (!range) return {};
  std::vector<std::string> out;
  const std::string network = print_network(*range);
  if (range->address.bytes != range->network.bytes) {
    const std::string single = print_ip(range->address) + (range->address.six ? "/128" : "/32");
    out.push_back(path + ": CIDR value " + quoted(text) + " is ambiguous in this context (should be " + quoted(network) + " or " +
                  quoted(single) + "?)");
  }
  if (range->leading_zeros || range->address.mapped()) {
    out.push_back(path + ": non-standard CIDR value " + quoted(text) + " is invalid: use " + quoted(network));
  }
  if (out.empty() && range->address.six && network != text) {
    out.push_back(path + ": IPv6 CIDR value " + quoted(text) + " should be in RFC 5952 canonical format (" + quoted(network) + ")");
  }
  return out;
}

void warn_of_ip(const Value& value, const std::string& path, std::vector<std::string>& warnings) {
  for (std::string& text : ip_warnings(path, text_of(value))) warnings.push_back(std::move(text));
}

void warn_of_cidr(const Value& value, const std::string& path, std::vector<std::string>& warnings) {
  for (std::string& text : cidr_warnings(path, text_of(value))) warnings.push_back(std::move(text));
}

bool is_whole_amount(std::string_view quantity) noexcept { return is_whole_quantity(quantity); }

void warn_of_fraction(const Value& value, const std::string& path, std::vector<std::string>& warnings) {
  const std::string_view quantity = text_of(value);
  if (!is_whole_amount(quantity))
    warnings.push_back(path + ": fractional byte value " + quoted(quantity) + " is invalid, must be an integer");
}

bool is_dual_stack(const std::vector<std::string>& ips, std::string& why) {
  bool four = false, six = false;
  for (std::size_t i = 0; i < ips.size(); ++i) {
    const auto address = parse_ip(ips[i]);
    if (!address) {
      why = "invalid IP[" + std::to_string(i) + "]: " + ips[i];
      return false;
    }
    (address->six && !address->mapped() ? six : four) = true;
  }
  return four && six;
}

}  // namespace BACKPLANE_API
