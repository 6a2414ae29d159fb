// IP addresses and ranges in fields that are older than today's strict forms: what is refused, and what is only warned of.
//
// Thread-safety: pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// An address as lenient parsers read it: numbers are decimal, whatever zeros they begin with.
struct IpAddress {
  std::array<std::uint8_t, 16> bytes{};  // IPv4 stands in the last four
  bool six = false;                      // written with colons
  bool leading_zeros = false;            // some numbers have them: libraries disagree on their meaning

  bool mapped() const noexcept;  // IPv4 written as IPv6
};
std::optional<IpAddress> parse_ip(std::string_view text);
// The one text of an address: RFC 5952 for IPv6.
std::string print_ip(const IpAddress& address);

// Why a text is no address; empty: it is one, though perhaps not in canonical form.
std::vector<std::string> legacy_ip_problems(std::string_view text);
std::vector<std::string> legacy_cidr_problems(std::string_view text);

// "spec.externalIPs[0]: IPv6 address … should be in RFC 5952 canonical format (…)"; nothing for a text that is no address at all.
std::vector<std::string> ip_warnings(const std::string& path, std::string_view text);
// The same of the points in `object`'s status at which a load balancer takes traffic.
std::vector<std::string> balancer_warnings(const Object& object);
std::vector<std::string> cidr_warnings(const std::string& path, std::string_view text);

// The same as checks of WarningRow, and of a quantity of bytes that is no whole number.
void warn_of_ip(const Value& value, const std::string& path, std::vector<std::string>& warnings);
void warn_of_cidr(const Value& value, const std::string& path, std::vector<std::string>& warnings);
// Whether a canonical quantity of bytes needs no part of one.
bool is_whole_amount(std::string_view quantity) noexcept;
void warn_of_fraction(const Value& value, const std::string& path, std::vector<std::string>& warnings);

// Whether the texts are addresses of both families; a reason in `why` when one of them is no address.
bool is_dual_stack(const std::vector<std::string>& ips, std::string& why);

}  // namespace BACKPLANE_API
