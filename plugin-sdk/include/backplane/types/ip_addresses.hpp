// IP addresses and CIDR ranges in fields that also accept non-canonical texts for compatibility: validation errors, and warnings for
// non-canonical texts.
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

// An address as Go's older, lenient parsers read it: numbers are decimal even if they have leading zeros.
struct IpAddress {
  std::array<std::uint8_t, 16> bytes{};  // network byte order; an IPv4 address is in the last four bytes
  bool six = false;                      // true: IPv6 (the text contains colons)
  bool leading_zeros = false;            // a number has leading zeros; libraries interpret such numbers differently (decimal or octal)

  bool mapped() const noexcept;  // true for an IPv4-mapped IPv6 address (::ffff:1.2.3.4)
};
// nullopt if `text` is not an address.
std::optional<IpAddress> parse_ip(std::string_view text);
// Returns the canonical text (RFC 5952 for IPv6).
std::string print_ip(const IpAddress& address);

// Return the errors of an invalid address or CIDR range; empty if `text` is valid, even if it is not canonical.
std::vector<std::string> legacy_ip_problems(std::string_view text);
std::vector<std::string> legacy_cidr_problems(std::string_view text);

// Returns warnings for a non-canonical text: "spec.externalIPs[0]: IPv6 address … should be in RFC 5952 canonical format (…)". Returns none
// for an invalid text.
std::vector<std::string> ip_warnings(const std::string& path, std::string_view text);
// Like ip_warnings(), for the IPs in status.loadBalancer.ingress of `object`.
std::vector<std::string> balancer_warnings(const Object& object);
// Like ip_warnings(), for a CIDR range.
std::vector<std::string> cidr_warnings(const std::string& path, std::string_view text);

// These have the signature of WarningRow::check (rest/warnings.hpp) and append the warnings above. warn_of_fraction() warns of a quantity
// of bytes that is not an integer.
void warn_of_ip(const Value& value, const std::string& path, std::vector<std::string>& warnings);
void warn_of_cidr(const Value& value, const std::string& path, std::vector<std::string>& warnings);
// True if a canonical quantity of bytes is an integer.
bool is_whole_amount(std::string_view quantity) noexcept;
void warn_of_fraction(const Value& value, const std::string& path, std::vector<std::string>& warnings);

// True if the addresses belong to both IP families. If a text is not an address, returns false and sets `why`.
bool is_dual_stack(const std::vector<std::string>& ips, std::string& why);

}  // namespace BACKPLANE_API
