// ip() and cidr().
#include <algorithm>

#include "cel/address.hpp"
#include "cel/functions.hpp"
#include "cel/text.hpp"

namespace backplane::cel_detail {
namespace {

bool read_ip(std::string_view text, IpVal& out, std::string& error) {
  bool has_zone = false;
  std::string problem;
  if (!parse_address(text, out, has_zone, problem)) {
    error = "IP Address " + quoted(text) + " parse error during conversion from string: " + problem;
  } else if (has_zone) {
    error = "IP address " + quoted(text) + " with zone value is not allowed";
  } else if (is_mapped_v4(out)) {
    error = "IPv4-mapped IPv6 address " + quoted(text) + " is not allowed";
  } else {
    return true;
  }
  return false;
}

bool read_cidr(std::string_view text, CidrVal& out, std::string& error) {
  std::string problem;
  if (!parse_prefix(text, out, problem)) {
    error = "network address parse error during conversion from string: " + problem;
  } else if (is_mapped_v4(out.address)) {
    error = "IPv4-mapped IPv6 address " + quoted(text) + " is not allowed";
  } else {
    return true;
  }
  return false;
}

Val ip(Call& call) {
  IpVal out;
  std::string error;
  return read_ip(call.text(0), out, error) ? opaque_val(call.arena.keep(out)) : error_val(call.arena, error);
}
Val is_ip(Call& call) {
  IpVal out;
  std::string error;
  return bool_val(read_ip(call.text(0), out, error));
}
Val is_canonical(Call& call) {
  IpVal out;
  std::string error;
  if (!read_ip(call.text(0), out, error)) return error_val(call.arena, error);
  return bool_val(ip_text(out) == call.text(0));
}

const IpVal& address(Call& call) { return as<IpVal>(call[0]); }

Val family(Call& call) { return int_val(address(call).size == 4 ? 4 : 6); }
bool all_zero(const IpVal& value) {
  return std::all_of(value.bytes.begin(), value.bytes.begin() + value.size, [](unsigned char c) { return c == 0; });
}
Val is_unspecified(Call& call) { return bool_val(all_zero(address(call))); }
bool loopback(const IpVal& value) {
  if (value.size == 4) return value.bytes[0] == 127;
  return value.bytes[15] == 1 && std::all_of(value.bytes.begin(), value.bytes.begin() + 15, [](unsigned char c) { return c == 0; });
}
Val is_loopback(Call& call) { return bool_val(loopback(address(call))); }
bool multicast(const IpVal& value) { return value.size == 4 ? (value.bytes[0] & 0xF0) == 0xE0 : value.bytes[0] == 0xFF; }
Val is_link_local_multicast(Call& call) {
  const IpVal& value = address(call);
  if (value.size == 4) return bool_val(value.bytes[0] == 224 && value.bytes[1] == 0 && value.bytes[2] == 0);
  return bool_val(value.bytes[0] == 0xFF && (value.bytes[1] & 0x0F) == 2);
}
bool link_local_unicast(const IpVal& value) {
  if (value.size == 4) return value.bytes[0] == 169 && value.bytes[1] == 254;
  return value.bytes[0] == 0xFE && (value.bytes[1] & 0xC0) == 0x80;
}
Val is_link_local_unicast(Call& call) { return bool_val(link_local_unicast(address(call))); }
Val is_global_unicast(Call& call) {
  const IpVal& value = address(call);
  const bool broadcast =
      value.size == 4 && value.bytes[0] == 255 && value.bytes[1] == 255 && value.bytes[2] == 255 && value.bytes[3] == 255;
  return bool_val(!broadcast && !all_zero(value) && !loopback(value) && !multicast(value) && !link_local_unicast(value));
}
Val text(Call& call) { return to_text_val(call.arena, call[0]); }

Val cidr(Call& call) {
  CidrVal out;
  std::string error;
  if (read_cidr(call.text(0), out, error)) return opaque_val(call.arena.keep(out));
  return error_val(call.arena, "network address parse error during conversion from string: " + error);
}
Val is_cidr(Call& call) {
  CidrVal out;
  std::string error;
  return bool_val(read_cidr(call.text(0), out, error));
}

const CidrVal& network(Call& call) { return as<CidrVal>(call[0]); }

bool holds(const CidrVal& net, const IpVal& value) {
  return net.address.size == value.size && masked_address(net.address, net.bits).bytes == masked_address(value, net.bits).bytes;
}
Val contains_ip(Call& call) {
  if (is_opaque(call[1], OpaqueKind::kIp)) return bool_val(holds(network(call), as<IpVal>(call[1])));
  IpVal other;
  std::string error;
  // A text that is not an address becomes an error value, and the reported error is about that value.
  return read_ip(call.text(1), other, error) ? bool_val(holds(network(call), other)) : no_overload();
}
Val contains_cidr(Call& call) {
  CidrVal other;
  std::string error;
  if (is_opaque(call[1], OpaqueKind::kCidr)) {
    other = as<CidrVal>(call[1]);
  } else if (!read_cidr(call.text(1), other, error)) {
    return error_val(call.arena, "network address parse error during conversion from string: " + error);
  }
  return bool_val(network(call).bits <= other.bits && holds(network(call), other.address));
}
Val address_of(Call& call) { return opaque_val(call.arena.keep(network(call).address)); }
Val prefix_length(Call& call) { return int_val(network(call).bits); }
Val masked(Call& call) {
  CidrVal out = network(call);
  out.address = masked_address(out.address, out.bits);
  return opaque_val(call.arena.keep(out));
}

constexpr Implementation kFunctions[] = {
    {"string_to_ip", ip},
    {"is_ip", is_ip},
    {"ip_is_canonical", is_canonical},
    {"ip_family", family},
    {"ip_is_unspecified", is_unspecified},
    {"ip_is_loopback", is_loopback},
    {"ip_is_link_local_multicast", is_link_local_multicast},
    {"ip_is_link_local_unicast", is_link_local_unicast},
    {"ip_is_global_unicast", is_global_unicast},
    {"ip_to_string", text},
    {"string_to_cidr", cidr},
    {"is_cidr", is_cidr},
    {"cidr_contains_ip_string", contains_ip},
    {"cidr_contains_ip_ip", contains_ip},
    {"cidr_contains_cidr_string", contains_cidr},
    {"cidr_contains_cidr", contains_cidr},
    {"cidr_ip", address_of},
    {"cidr_prefix_length", prefix_length},
    {"cidr_masked", masked},
    {"cidr_to_string", text},
};

}  // namespace

std::span<const Implementation> address_functions() { return kFunctions; }

}  // namespace backplane::cel_detail
