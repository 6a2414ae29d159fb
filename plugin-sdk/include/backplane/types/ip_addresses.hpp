// IP addresses and CIDR ranges in fields that accept older, lenient forms: validation errors, and warnings for forms that are
// discouraged.
//
// Thread-safety: pure functions.
// Source:        k8s.io/utils/net and apimachinery/pkg/util/validation/ip.go.
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

// An address as lenient parsers read it: numbers are decimal, even with leading zeros.
struct IpAddress {
  std::array<std::uint8_t, 16> bytes{};  // network byte order; IPv4 is in the last four
  bool six = false;                      // IPv6: written with colons
  bool leading_zeros = false;            // some number has leading zeros, which libraries interpret differently

  bool mapped() const noexcept;  // IPv4-mapped IPv6 (::ffff:1.2.3.4)
};
// nullopt if `text` is not an address.
std::optional<IpAddress> parse_ip(std::string_view text);
// The canonical text: RFC 5952 for IPv6.
std::string print_ip(const IpAddress& address);

// The errors of an invalid address or CIDR range; empty if it is valid, though perhaps not canonical.
std::vector<std::string> legacy_ip_problems(std::string_view text);
std::vector<std::string> legacy_cidr_problems(std::string_view text);

// Warnings for a non-canonical text: "spec.externalIPs[0]: IPv6 address … should be in RFC 5952 canonical format (…)". None for an
// invalid text.
std::vector<std::string> ip_warnings(const std::string& path, std::string_view text);
// The same for the IPs in status.loadBalancer.ingress of `object`.
std::vector<std::string> balancer_warnings(const Object& object);
std::vector<std::string> cidr_warnings(const std::string& path, std::string_view text);

// The same with the signature of WarningRow::check (rest/warnings.hpp). warn_of_fraction: for a quantity of bytes that is not an integer.
void warn_of_ip(const Value& value, const std::string& path, std::vector<std::string>& warnings);
void warn_of_cidr(const Value& value, const std::string& path, std::vector<std::string>& warnings);
// True if a canonical quantity of bytes is an integer.
bool is_whole_amount(std::string_view quantity) noexcept;
void warn_of_fraction(const Value& value, const std::string& path, std::vector<std::string>& warnings);

// True if the addresses belong to both families. If one is not an address, returns false and sets `why`.
bool is_dual_stack(const std::vector<std::string>& ips, std::string& why);

}  // namespace BACKPLANE_API
